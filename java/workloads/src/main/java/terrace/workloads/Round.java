package terrace.workloads;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What one round of a workload took on the thread that did it.
 *
 * @param cpuNanos CPU time of the thread, in which collections by other threads have no part
 * @param wallNanos time on the clock, collections included
 * @param allocatedBytes that the thread allocated, as the JVM counts them
 * @param collections that fell into the round
 */
record Round(long cpuNanos, long wallNanos, long allocatedBytes, long collections) {
    /** The current thread's counters now. */
    static Round now() throws CheckException {
        long cpu = Allocation.threads().getCurrentThreadCpuTime();
        return new Round(cpu, System.nanoTime(), Allocation.byCurrentThread(), Snapshot.collectionsSoFar());
    }

    /** What has happened since an earlier reading. */
    Round since(Round earlier) {
        return new Round(
                cpuNanos - earlier.cpuNanos,
                wallNanos - earlier.wallNanos,
                allocatedBytes - earlier.allocatedBytes,
                collections - earlier.collections);
    }

    /** As fields of a result. */
    Map<String, Object> fields() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("cpu_ns", cpuNanos);
        fields.put("wall_ns", wallNanos);
        fields.put("allocated_bytes", allocatedBytes);
        fields.put("collections", collections);
        return fields;
    }
}
