package terrace.workloads;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Allocates arrays of the lengths given, in their order, as {@link AllocWorker} does it for one length. Operations are
 * bytes in the heap, headers included.
 */
final class SizesWorker implements Worker {
    /** Lengths are allocated in batches of about so many bytes: some 0.1 ms. */
    private static final int BATCH_BYTES = 256 * 1024;

    private static final int LARGEST_BATCH = 4096;
    private static final int BATCHES_PER_INSPECTION = 64;

    /** The counter of batches lies in the middle of an array, away from whatever its neighbours write. */
    private static final int STATE = 32;

    private final Lengths lengths;
    private final int index;
    private final Tally tally;
    private final CollectionMarks marks;
    private final long[] state = new long[STATE];
    private int[][] batches;
    private long[] bytes;
    private WeakReference<Object> canary;
    private long bytesAtBegin;

    /** Allocates these lengths; the index decides where in the sequence it begins. */
    SizesWorker(Lengths lengths, int index, Tally tally, CollectionMarks marks) {
        this.lengths = lengths;
        this.index = index;
        this.tally = tally;
        this.marks = marks;
    }

    @Override
    public void begin() throws CheckException {
        ObjectBytes objects = ObjectBytes.measured();
        batches = batches(lengths.sequence(), objects);
        bytes = new long[batches.length];
        for (int i = 0; i < bytes.length; i++) {
            for (int length : batches[i]) {
                bytes[i] += objects.of(length);
            }
        }
        // Threads that began alike would allocate their large arrays at the same time.
        state[STATE / 2] = (long) index * batches.length / 2;
        canary = new WeakReference<>(new Object());
        bytesAtBegin = Allocation.byCurrentThread();
    }

    @Override
    public void batch() throws CheckException {
        long count = state[STATE / 2]++;
        int which = (int) (count % batches.length);
        int[] batch = batches[which];
        int kept = (int) ((count * 0x9E3779B1L & 0x7FFF_FFFFL) % batch.length);
        byte[] array = allocate(batch, kept);
        if (count % BATCHES_PER_INSPECTION == 0) {
            AllocWorker.inspect(array, batch[kept]);
        }
        tally.add(bytes[which]);
        // Cleared by a collection of young objects. Asking so keeps nothing alive, as get() can in concurrent collectors.
        if (canary.refersTo(null)) {
            marks.note(Snapshot.cyclesSoFar(), tally.totalOfAll());
            canary = new WeakReference<>(new Object());
        }
    }

    @Override
    public void end() throws CheckException {
        AllocWorker.checkAllocated(Allocation.byCurrentThread() - bytesAtBegin, tally.total());
    }

    /** The measured loop: returns the array with index {@code kept}. */
    private static byte[] allocate(int[] lengths, int kept) {
        byte[] result = null;
        for (int i = 0; i < lengths.length; i++) {
            byte[] array = new byte[lengths[i]];
            if (i == kept) {
                result = array;
            }
        }
        return result;
    }

    /** The sequence in pieces of about {@link #BATCH_BYTES}; a short sequence is repeated to fill one. */
    static int[][] batches(int[] sequence, ObjectBytes objects) {
        long once = 0;
        for (int length : sequence) {
            once += objects.of(length);
        }
        long repeats = Math.max(1, Math.min(BATCH_BYTES / once, LARGEST_BATCH / sequence.length));
        int[] all = new int[(int) (sequence.length * repeats)];
        for (int i = 0; i < all.length; i++) {
            all[i] = sequence[i % sequence.length];
        }
        List<int[]> batches = new ArrayList<>();
        int from = 0;
        long sum = 0;
        for (int i = 0; i < all.length; i++) {
            sum += objects.of(all[i]);
            if (sum >= BATCH_BYTES || i - from + 1 >= LARGEST_BATCH || i + 1 == all.length) {
                batches.add(Arrays.copyOfRange(all, from, i + 1));
                from = i + 1;
                sum = 0;
            }
        }
        return batches.toArray(int[][]::new);
    }
}
