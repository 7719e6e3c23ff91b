package terrace.benchmarks;

import java.util.function.LongSupplier;

/** The operations of all threads, compared with what they counted together once the last one has ended. */
final class Tally {
    private final int threads;
    private int ended;
    private long operations;

    Tally(int threads) {
        this.threads = threads;
    }

    /** A thread did so many operations. JMH lets no thread end before all have stopped counting. */
    synchronized void finished(long done, LongSupplier counted) {
        operations += done;
        ended++;
        if (ended == threads && counted.getAsLong() != operations) {
            throw new IllegalStateException(
                    "counted " + counted.getAsLong() + " in " + operations + " operations: increments were lost");
        }
    }
}
