package terrace.benchmarks;

import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * Counters outside of the Java heap, where addresses are known and stay: which counters share a cache line is what
 * {@code layout} says. Inside the heap an object begins anywhere in a line and moves.
 */
@State(Scope.Benchmark)
public class Counters {
    /** A cache line. */
    private static final int LINE = 64;
    /** Two lines: processors fetch lines in pairs. */
    private static final int APART = 2 * LINE;

    /**
     * Who has which counter: {@code shared}, one for all threads; {@code padded}, one for each thread, 128 bytes apart;
     * {@code false_sharing}, one for each thread, eight of them in a line.
     */
    @Param({"shared", "padded", "false_sharing"})
    public String layout;

    private long first;
    private long end;
    private Tally tally;

    /** Counters for all threads, each 0, with nothing else near. */
    @Setup(Level.Trial)
    public void allocate(BenchmarkParams parameters) {
        int threads = parameters.getThreads();
        // One more on both sides, and one for the alignment. The JVM runs one benchmark: its end gives it back.
        long memory = Internals.allocate((threads + 3L) * APART);
        first = (memory / APART + 2) * APART;
        end = first + threads * (long) APART;
        tally = new Tally(threads);
    }

    /** The address of this thread's counter. */
    long of(int thread) {
        return switch (layout) {
            case "shared" -> first;
            case "padded" -> first + thread * (long) APART;
            case "false_sharing" -> first + thread * (long) Long.BYTES;
            default -> throw new IllegalArgumentException(
                    "layout " + layout + "; choose shared, padded or false_sharing");
        };
    }

    /** A thread has ended and counted so often; the last one compares all counters with all operations. */
    void finished(long operations) {
        tally.finished(operations, this::sum);
    }

    private long sum() {
        long sum = 0;
        for (long address = first; address < end; address += Long.BYTES) {
            sum += Internals.get(address);
        }
        return sum;
    }
}
