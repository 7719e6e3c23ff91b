package terrace;

/** Counters and a status as the library would give them. */
public final class Made {
    private static final String[] COUNTERS = {"refills", "refill_bytes", "buffers", "buffer_bytes", "objects", "object_bytes", "waste_refill_bytes", "waste_collection_bytes",
        "waste_alignment_bytes", "foreign", "stolen", "stolen_bytes", "direct", "direct_bytes", "passed", "passed_bytes", "missed", "missed_bytes"};

    private Made() {}

    /** One level of one domain: the size of its buffer, what remains, and 1, 2, 3, ... for the counters. */
    public static Counters counters(long bufferBytes, long remainingBytes) {
        long[] numbers = new long[5 + COUNTERS.length];
        numbers[2] = 1;
        numbers[3] = bufferBytes;
        numbers[4] = remainingBytes;
        for (int index = 0; index < COUNTERS.length; index++) {
            numbers[5 + index] = index + 1;
        }
        return new Counters(COUNTERS, new String[] {"core"}, numbers);
    }

    /** What is installed and switched off. */
    public static Status off() {
        return new Status("installed", false, "", "{\"levels\":\"core\",\"collector\":\"G1\"}");
    }
}
