package terrace.workloads;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;

/**
 * The process's counters at one instant. Two of them bound the measured window.
 *
 * @param nanos {@link System#nanoTime} when the operations were added up
 * @param operations of all workers since the start
 * @param cpuNanos CPU time of the process
 * @param allocatedBytes bytes allocated by the threads in question; -1 if this JVM cannot tell
 * @param collections of all collectors, as the JVM's beans count them
 * @param collectionMillis time in them
 */
record Snapshot(
        long nanos, long operations, long cpuNanos, long allocatedBytes, long collections, long collectionMillis) {

    /** A reading that took longer was interrupted (a collection, another process) and is repeated. */
    private static final long LONGEST_READING_NANOS = 200_000;

    private static final int ATTEMPTS = 20;

    /**
     * Reads all counters as nearly at one instant as can be: the quickest of several readings counts. The very first
     * call in a process loads classes; let it happen before anything is measured.
     *
     * @param threadIds threads whose allocation is counted; null counts all threads, also ended ones, which a JVM
     *     before 21 cannot do
     */
    static Snapshot take(Progress progress, long[] threadIds) {
        Snapshot quickest = null;
        long least = Long.MAX_VALUE;
        for (int attempt = 0; attempt < ATTEMPTS && least > LONGEST_READING_NANOS; attempt++) {
            long start = System.nanoTime();
            Snapshot snapshot = read(progress, threadIds, start);
            long took = System.nanoTime() - start;
            if (took < least) {
                least = took;
                quickest = snapshot;
            }
        }
        return quickest;
    }

    private static Snapshot read(Progress progress, long[] threadIds, long nanos) {
        long operations = progress.sum();
        long allocated = threadIds == null ? allocatedByAll() : allocatedBy(threadIds);
        long cpu = processCpuNanos();
        long millis = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            millis += Math.max(0, bean.getCollectionTime());
        }
        return new Snapshot(nanos, operations, cpu, allocated, collectionsSoFar(), millis);
    }

    /** Collections since the start, of all collectors, as the JVM's beans count them. */
    static long collectionsSoFar() {
        long collections = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            collections += Math.max(0, bean.getCollectionCount());
        }
        return collections;
    }

    /** The same without the beans of concurrent collectors that count a cycle's pauses besides the cycle. */
    static long cyclesSoFar() {
        long cycles = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            cycles += countsCycles(bean) ? Math.max(0, bean.getCollectionCount()) : 0;
        }
        return cycles;
    }

    /** Whether this bean counts collections; concurrent collectors have another one that counts the pauses of each. */
    static boolean countsCycles(GarbageCollectorMXBean bean) {
        return !bean.getName().endsWith(" Pauses");
    }

    private static long processCpuNanos() {
        return ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
                .getProcessCpuTime();
    }

    private static long allocatedBy(long[] threadIds) {
        long sum = 0;
        for (long bytes : Allocation.threads().getThreadAllocatedBytes(threadIds)) {
            if (bytes < 0) {
                return -1;
            }
            sum += bytes;
        }
        return sum;
    }

    /** By reflection, because the method is younger than the oldest JDK this runs on. */
    private static long allocatedByAll() {
        try {
            Method method = com.sun.management.ThreadMXBean.class.getMethod("getTotalThreadAllocatedBytes");
            return (long) method.invoke(Allocation.threads());
        } catch (ReflectiveOperationException e) {
            return -1;
        }
    }
}
