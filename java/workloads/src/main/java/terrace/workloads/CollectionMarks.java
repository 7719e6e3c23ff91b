package terrace.workloads;

import java.util.function.Supplier;

/**
 * How much was allocated when collections had just ended: from the first mark to the last, the bytes for each collection,
 * and the heap used up for each byte.
 *
 * <p>Bytes and collections of a whole run would be uncertain by a collection at either end; between marks they are
 * uncertain by what is allocated until a collection is noticed, which is some hundred KB.
 */
final class CollectionMarks {
    /** The first collections are left out: the JVM still allocates for itself, and code is not compiled. */
    static final int LEFT_OUT = 2;

    private final Supplier<HeapAtCollection> heap;
    private long collectionsAtStart = -1;
    private long firstCollections = -1;
    private long firstBytes;
    private long lastCollections = -1;
    private long lastBytes;
    private HeapAtCollection lastHeap;
    private long heapUsed;
    private long bytesOfHeapUsed;

    /** Asks for the heap at the last collection, at each mark. */
    CollectionMarks(Supplier<HeapAtCollection> heap) {
        this.heap = heap;
    }

    /** A worker has noticed a collection. Both numbers never shrink from one call to the next. */
    synchronized void note(long collections, long bytes) {
        if (collectionsAtStart < 0) {
            collectionsAtStart = collections;
        }
        if (collections <= lastCollections || collections < collectionsAtStart + LEFT_OUT) {
            return;
        }
        HeapAtCollection now = heap.get();
        if (firstCollections < 0) {
            firstCollections = collections;
            firstBytes = bytes;
        } else if (collections == lastCollections + 1 && now != null && lastHeap != null) {
            // Of a collection in between nobody has noticed what it left.
            heapUsed += now.before() - lastHeap.after();
            bytesOfHeapUsed += bytes - lastBytes;
        }
        lastCollections = collections;
        lastBytes = bytes;
        lastHeap = now;
    }

    /** Collections between the first mark and the last. */
    synchronized long collections() {
        return Math.max(0, lastCollections - firstCollections);
    }

    /** Bytes allocated for each of those; null where there are none. */
    synchronized Double bytesPerCollection() {
        long collections = lastCollections - firstCollections;
        return collections > 0 ? (double) (lastBytes - firstBytes) / collections : null;
    }

    /** Bytes of the heap used up between collections for each byte allocated; null where no two in a row were noticed. */
    synchronized Double heapUsedPerByte() {
        return bytesOfHeapUsed > 0 ? (double) heapUsed / bytesOfHeapUsed : null;
    }
}
