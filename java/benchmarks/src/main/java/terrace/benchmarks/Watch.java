package terrace.benchmarks;

import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.ThreadParams;

/**
 * What a {@link Watcher} saw in an iteration. One of the benchmark's threads tells it; the others add nothing. Without a watcher
 * the figures are not numbers.
 */
@State(Scope.Thread)
@AuxCounters(AuxCounters.Type.EVENTS)
public class Watch {
    /** Pauses. */
    public double pauses;
    /** Milliseconds that all pauses took. */
    public double pausedMillis;
    /** Milliseconds that the longest took. */
    public double longestPauseMillis;

    private boolean tells;
    private Watcher.Pauses before;

    /** Whether it is this thread that tells. */
    @Setup(Level.Trial)
    public void choose(ThreadParams thread) {
        tells = thread.getThreadIndex() == 0;
    }

    /** Remembers what had been seen before. */
    @Setup(Level.Iteration)
    public void begin(Watcher watcher) {
        if (tells) {
            before = watcher.take();
        }
    }

    /** Takes the difference. */
    @TearDown(Level.Iteration)
    public void end(Watcher watcher) {
        if (!tells) {
            return;
        }
        Watcher.Pauses now = watcher.take();
        boolean known = watcher.watch;
        pauses = known ? now.count() - before.count() : Double.NaN;
        pausedMillis = known ? (now.nanos() - before.nanos()) / 1e6 : Double.NaN;
        longestPauseMillis = known ? now.longest() / 1e6 : Double.NaN;
    }
}
