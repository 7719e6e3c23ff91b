package terrace.workloads;

/** What one short-lived thread does: allocate, link, walk, end. */
final class ChurnTask implements Runnable {
    private final int links;
    private final long seed;
    private long checksum;
    private Throwable failure;

    /** A task that makes a {@link Chain}. */
    ChurnTask(int links, long seed) {
        this.links = links;
        this.seed = seed;
    }

    @Override
    public void run() {
        try {
            checksum = Chain.checksum(Chain.make(links, seed));
        } catch (Throwable e) {
            failure = e;
        }
    }

    /** Checks the result, once the thread has been joined. */
    void check() throws Exception {
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof Exception exception) {
            throw exception;
        }
        Chain.check(checksum, links, seed);
    }
}
