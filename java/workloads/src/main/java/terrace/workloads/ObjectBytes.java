package terrace.workloads;

/**
 * What a byte array takes in this JVM's heap: headers and alignment differ with its options.
 *
 * @param header bytes before the first element
 * @param alignment of objects
 */
record ObjectBytes(long header, long alignment) {
    private static final int LENGTHS = 1024;

    /** Asks the JVM what short arrays take, and finds the rule. */
    static ObjectBytes measured() throws CheckException {
        long first = AllocWorker.measureObjectBytes(0);
        int length = 1;
        while (AllocWorker.measureObjectBytes(length) == first) {
            length++;
            if (length > LENGTHS) {
                throw new CheckException("arrays of 0 to " + LENGTHS + " bytes all take " + first + " bytes");
            }
        }
        // The longest array that takes as much as the empty one fills it to the last byte.
        long alignment = AllocWorker.measureObjectBytes(length) - first;
        return new ObjectBytes(first - (length - 1), alignment);
    }

    /** Bytes in the heap of an array of this length. */
    long of(int length) {
        return (header + length + alignment - 1) / alignment * alignment;
    }
}
