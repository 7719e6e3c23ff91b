package terrace.workloads;

/**
 * Allocates arrays in a loop that does nothing else.
 *
 * <p>Two things would spoil the measurement. If the arrays were stored into heap objects, the threads' card marks could
 * share cache lines, and that contention would hide the allocator's. If they were not used at all, the JIT could remove
 * the allocation. So in each batch one array, which the JIT cannot know, leaves the loop as the method's result: a
 * predictable branch, no store to the heap. That the allocation is real is checked in the end against the JVM's own
 * count of the bytes that this thread allocated.
 */
final class AllocWorker implements Worker {
    /** Arrays in a batch: at a thousand million a second 4 microseconds, at the slowest refills still under 1 ms. */
    private static final int LARGEST_BATCH = 4096;

    /** Bounds the time of a batch of larger arrays. */
    private static final int BATCH_BYTES = 256 * 1024;

    /** Approximately an array's header, for sizing a batch. */
    private static final int HEADER = 16;

    /** Looking at the bytes of every kept array would be work beside allocation where arrays are large. */
    private static final int BATCHES_PER_INSPECTION = 64;

    /** What the JVM's count may differ by: 2 percent, and for very short runs what this thread allocates besides. */
    private static final double TOLERANCE = 0.02;

    private static final long TOLERATED_BYTES = 256 * 1024;

    private static final byte SOILED = (byte) 0xA5;

    private final int size;
    private final int count;
    private final Tally tally;
    private long objectBytes;
    private long bytesAtBegin;

    /** Allocates arrays of {@code size} bytes. */
    AllocWorker(int size, Tally tally) {
        this.size = size;
        this.count = (int) Math.max(1, Math.min(LARGEST_BATCH, BATCH_BYTES / ((long) HEADER + size)));
        this.tally = tally;
    }

    @Override
    public void begin() throws CheckException {
        objectBytes = measureObjectBytes(size);
        bytesAtBegin = Allocation.byCurrentThread();
    }

    @Override
    public void batch() throws CheckException {
        long batches = tally.total() / count;
        // Multiplying by an odd number walks through all positions in an order that the JIT does not see through.
        int kept = (int) ((batches * 0x9E3779B1L & 0x7FFF_FFFFL) % count);
        byte[] array = allocate(count, size, kept);
        if (batches % BATCHES_PER_INSPECTION == 0) {
            inspect(array, size);
        }
        tally.add(count);
    }

    @Override
    public void end() throws CheckException {
        checkAllocated(Allocation.byCurrentThread() - bytesAtBegin, tally.total() * objectBytes);
    }

    /** The measured loop: returns the array with index {@code kept}. */
    private static byte[] allocate(int count, int size, int kept) {
        byte[] result = null;
        for (int i = 0; i < count; i++) {
            byte[] array = new byte[size];
            if (i == kept) {
                result = array;
            }
        }
        return result;
    }

    /** A new array is all zeros. It is soiled then, so that memory handed out again without zeroing is noticed. */
    static void inspect(byte[] array, int size) throws CheckException {
        if (array.length != size) {
            throw new CheckException("a new byte[" + size + "] has length " + array.length);
        }
        for (int i = 0; i < array.length; i++) {
            if (array[i] != 0) {
                throw new CheckException("a new byte[" + size + "] holds " + array[i] + " at index " + i);
            }
            array[i] = SOILED;
        }
    }

    /** The JVM's count and ours must agree: otherwise the JIT removed allocations, or some were counted twice. */
    static void checkAllocated(long counted, long expected) throws CheckException {
        if (Math.abs(counted - expected) > expected * TOLERANCE + TOLERATED_BYTES) {
            throw new CheckException("a thread that should have allocated " + expected + " bytes allocated " + counted
                    + " by the JVM's count");
        }
    }

    /** Asks the JVM what one array takes: headers differ with its options. The least of several is without noise. */
    static long measureObjectBytes(int size) throws CheckException {
        byte[][] keep = new byte[1][];
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            long before = Allocation.byCurrentThread();
            keep[0] = new byte[size];
            least = Math.min(least, Allocation.byCurrentThread() - before);
        }
        if (least < size) {
            throw new CheckException("the JVM counts " + least + " bytes for a byte[" + size + "]");
        }
        return least;
    }
}
