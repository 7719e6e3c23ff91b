package terrace.benchmarks;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** A byte array per operation: zeroed, as Java requires, and uninitialized. */
@Fork(value = 1, jvmArgsAppend = Internals.FLAG)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
public class Zeroing {
    /** The array's length in bytes. */
    @Param({"1", "10", "100", "1000", "10000", "100000", "1000000", "10000000"})
    public int size;

    /** From this size on an iteration makes too few arrays for the compiler to notice. */
    private static final int FEW = 100_000;

    private int compiled;

    /** Gets the code compiled that makes large arrays: interpreted code zeroes what it should leave as it is. */
    @Setup(Level.Trial)
    public void compile() {
        long end = System.nanoTime() + 200_000_000;
        while (size >= FEW && System.nanoTime() < end) {
            compiled += Internals.uninitialized(1).length;
        }
    }

    /** What every Java program does. */
    @Benchmark
    public byte[] zeroed(Watch watch) {
        return new byte[size];
    }

    /** What the class library does where it overwrites all of an array at once. */
    @Benchmark
    public byte[] uninitialized(Watch watch) {
        return Internals.uninitialized(size);
    }
}
