package terrace.workloads;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * What a run measured.
 *
 * @param workload its name
 * @param parameters in force, in the order in which they are shown
 * @param operation what was counted
 * @param from counters when the window opened
 * @param to counters when it closed
 * @param findings of the workload's own, in the order in which they are shown
 */
record Result(String workload, Map<String, Object> parameters, String operation, Snapshot from, Snapshot to,
        Map<String, Object> findings) {
    /** Operations in the window. */
    long operations() {
        return to.operations() - from.operations();
    }

    /** Length of the window. */
    double seconds() {
        return (to.nanos() - from.nanos()) / 1e9;
    }

    /** CPU time of the process in the window. */
    double cpuSeconds() {
        return (to.cpuNanos() - from.cpuNanos()) / 1e9;
    }

    /** Bytes allocated in the window; null if the JVM cannot tell. */
    Long allocatedBytes() {
        boolean known = from.allocatedBytes() >= 0 && to.allocatedBytes() >= 0;
        return known ? Long.valueOf(to.allocatedBytes() - from.allocatedBytes()) : null;
    }

    /** Collections in the window. */
    long collections() {
        return to.collections() - from.collections();
    }

    /** Time in collections in the window. */
    double collectionSeconds() {
        return (to.collectionMillis() - from.collectionMillis()) / 1e3;
    }

    /** One JSON object on one line. */
    String toJson() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("workload", workload);
        fields.put("parameters", parameters);
        fields.put("operation", operation);
        fields.put("operations", operations());
        fields.put("seconds", seconds());
        fields.put("ended_nanos", to.nanos());
        fields.put("operations_per_second", operations() / seconds());
        fields.put("cpu_seconds", cpuSeconds());
        fields.put("allocated_bytes", allocatedBytes());
        fields.put("collections", collections());
        fields.put("collection_seconds", collectionSeconds());
        fields.putAll(findings);
        fields.put("checks", "passed");
        return Json.of(fields);
    }

    /** A few lines for people. */
    String toText() {
        StringBuilder text = new StringBuilder();
        line(text, "%s  %s", workload, parameters);
        line(text, "%,d x %s in %.2f s: %,.0f per second", operations(), operation, seconds(), operations() / seconds());
        Long bytes = allocatedBytes();
        String allocated = bytes == null
                ? "bytes unavailable: this JVM does not count those of ended threads"
                : String.format(Locale.ROOT, "%,.0f MB/s", bytes / seconds() / 1e6);
        line(text, "allocated %s; CPU time %.2f s", allocated, cpuSeconds());
        findings.forEach((name, value) -> line(text, "%s %s", name.replace('_', ' '), value));
        line(text, "%,d collections took %.3f s; checks passed", collections(), collectionSeconds());
        return text.toString().stripTrailing();
    }

    private static void line(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values)).append(System.lineSeparator());
    }
}
