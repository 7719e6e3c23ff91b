package terrace.workloads;

/**
 * How much was allocated when collections had just ended: from the first mark to the last, the bytes for each collection.
 *
 * <p>Bytes and collections of a whole run would be uncertain by a collection at either end; between marks they are
 * uncertain by what is allocated until a collection is noticed, which is some hundred KB.
 */
final class CollectionMarks {
    /** The first collections are left out: the JVM still allocates for itself, and code is not compiled. */
    static final int LEFT_OUT = 2;

    private long collectionsAtStart = -1;
    private long firstCollections = -1;
    private long firstBytes;
    private long lastCollections = -1;
    private long lastBytes;

    /** A worker has noticed a collection. Both numbers never shrink from one call to the next. */
    synchronized void note(long collections, long bytes) {
        if (collectionsAtStart < 0) {
            collectionsAtStart = collections;
        }
        if (collections <= lastCollections || collections < collectionsAtStart + LEFT_OUT) {
            return;
        }
        if (firstCollections < 0) {
            firstCollections = collections;
            firstBytes = bytes;
        }
        lastCollections = collections;
        lastBytes = bytes;
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
}
