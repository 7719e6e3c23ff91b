package terrace.workloads;

import com.sun.management.GarbageCollectorMXBean;
import com.sun.management.GcInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Bytes of the heap in use before a collection and after it: what objects take, and what was reserved for threads and is
 * now wasted.
 *
 * @param before bytes in use when it began
 * @param after bytes in use when it had ended
 */
record HeapAtCollection(long before, long after) {
    /** What the JVM's beans say of the collection that ended last; null where there was none. */
    static HeapAtCollection last() {
        GcInfo last = null;
        for (GarbageCollectorMXBean bean :
                ManagementFactory.getPlatformMXBeans(GarbageCollectorMXBean.class)) {
            // The beans of pauses know nothing of the heap.
            GcInfo info = Snapshot.countsCycles(bean) ? bean.getLastGcInfo() : null;
            if (info != null && (last == null || info.getEndTime() >= last.getEndTime())) {
                last = info;
            }
        }
        return last == null
                ? null
                : new HeapAtCollection(inHeap(last.getMemoryUsageBeforeGc()), inHeap(last.getMemoryUsageAfterGc()));
    }

    private static long inHeap(Map<String, MemoryUsage> pools) {
        Set<String> heap = ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP)
                .map(MemoryPoolMXBean::getName)
                .collect(Collectors.toSet());
        return pools.entrySet().stream()
                .filter(pool -> heap.contains(pool.getKey()))
                .mapToLong(pool -> pool.getValue().getUsed())
                .sum();
    }
}
