package terrace.workloads;

/** Handles requests without pause. */
final class BusyWorker implements Worker {
    private static final int REQUESTS = 16;

    private final int links;
    private final Tally tally;

    /** Handles requests of so many links. */
    BusyWorker(int links, Tally tally) {
        this.links = links;
        this.tally = tally;
    }

    @Override
    public void batch() throws CheckException {
        long seed = tally.total();
        for (int i = 0; i < REQUESTS; i++) {
            ThreadsWorkload.handle(links, seed + i);
        }
        tally.add(REQUESTS);
    }
}
