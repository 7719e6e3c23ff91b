package terrace.benchmarks;

import java.util.concurrent.locks.LockSupport;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * A thread that sleeps for 1 ms again and again and looks at the clock: what a request that arrives meanwhile would have waited.
 *
 * <p>A pause is a sleep that ended more than 1 ms late, and took as long as it was late. The thread has the highest priority,
 * which Linux ignores unless the JVM may use it, so with more busy threads than CPUs waiting for a CPU counts as a pause, too.
 */
@State(Scope.Benchmark)
public class Watcher {
    private static final long SLEEP = 1_000_000;
    private static final long LATE = 1_000_000;

    /** Whether somebody watches. */
    @Param("false")
    public boolean watch;

    private Thread thread;
    private volatile boolean stop;
    private long count;
    private long nanos;
    private long longest;

    /**
     * Pauses.
     *
     * @param count how many since the beginning
     * @param nanos nanoseconds of all of them
     * @param longest nanoseconds of the longest since this was last asked for
     */
    record Pauses(long count, long nanos, long longest) {}

    /** Starts watching, if it shall. */
    @Setup(Level.Trial)
    public void start() {
        if (!watch) {
            return;
        }
        thread = new Thread(this::run, "watcher");
        thread.setDaemon(true);
        thread.setPriority(Thread.MAX_PRIORITY);
        thread.start();
    }

    /** Stops watching. */
    @TearDown(Level.Trial)
    public void end() throws InterruptedException {
        stop = true;
        if (thread != null) {
            thread.join();
        }
    }

    private void run() {
        while (!stop) {
            long due = System.nanoTime() + SLEEP;
            // May end early; that is not late.
            LockSupport.parkNanos(this, SLEEP);
            long late = System.nanoTime() - due;
            if (late > LATE) {
                add(late);
            }
        }
    }

    private synchronized void add(long late) {
        count++;
        nanos += late;
        longest = Math.max(longest, late);
    }

    synchronized Pauses take() {
        Pauses pauses = new Pauses(count, nanos, longest);
        longest = 0;
        return pauses;
    }
}
