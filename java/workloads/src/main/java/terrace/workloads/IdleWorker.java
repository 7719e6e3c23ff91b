package terrace.workloads;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Sleeps, handles one request, sleeps again. */
final class IdleWorker implements Worker {
    private static final long SHORTEST_SLEEP = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST_SLEEP = TimeUnit.MILLISECONDS.toNanos(500);

    private final int links;
    private final Tally tally;
    private final SplittableRandom random;

    /** Handles requests of so many links; the index decides the sleeps, so that runs are alike. */
    IdleWorker(int links, int index, Tally tally) {
        this.links = links;
        this.tally = tally;
        this.random = new SplittableRandom(index);
    }

    /** Parking, not sleeping: the runner wakes whoever is parked when the run ends. */
    @Override
    public void batch() throws CheckException {
        LockSupport.parkNanos(random.nextLong(SHORTEST_SLEEP, LONGEST_SLEEP));
        ThreadsWorkload.handle(links, tally.total());
        tally.add(1);
    }
}
