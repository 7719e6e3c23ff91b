package terrace.benchmarks;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.ThreadParams;

/**
 * A tensor of longs with four dimensions in one array, the last index the fastest; an operation reads one element.
 *
 * <p>The reads do not depend on one another: a processor may have several under way, as in programs that compute with tensors.
 * Indexes are made while reading, so no memory but the tensor's is read.
 */
@Fork(1)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Benchmark)
public class Tensor {
    private static final int READS = 1024;

    /** The tensor's size in MB of 2^20 bytes, a power of two. */
    @Param({"64", "512"})
    public int megabytes;

    private long[] elements;
    /** The dimensions are powers of two; these are the powers. */
    private int bitsI;
    private int bitsJ;
    private int bitsK;
    private int bitsL;

    /** Elements that differ, so that the sum means something. */
    @Setup(Level.Trial)
    public void fill() {
        if (Integer.bitCount(megabytes) != 1 || megabytes > 8192) {
            throw new IllegalArgumentException("megabytes " + megabytes + "; choose a power of two up to 8192");
        }
        int bits = Integer.numberOfTrailingZeros(megabytes) + 17;
        bitsI = bits / 4;
        bitsJ = (bits - bitsI) / 3;
        bitsK = (bits - bitsI - bitsJ) / 2;
        bitsL = bits - bitsI - bitsJ - bitsK;
        elements = new long[1 << bits];
        for (int index = 0; index < elements.length; index++) {
            elements[index] = index;
        }
    }

    private int index(int i, int j, int k, int l) {
        return (((i << bitsJ | j) << bitsK | k) << bitsL) | l;
    }

    /** Where a thread is. */
    @State(Scope.Thread)
    public static class Position {
        private long random;
        private int step;

        /** Another beginning for each thread. */
        @Setup(Level.Trial)
        public void begin(ThreadParams thread) {
            random = 0x9E3779B97F4A7C15L * (thread.getThreadIndex() + 1);
            step = thread.getThreadIndex() * 7919;
        }
    }

    /** Elements in an order that no prefetcher foresees. */
    @Benchmark
    @OperationsPerInvocation(READS)
    public long access(Position position) {
        long random = position.random;
        long sum = 0;
        for (int read = 0; read < READS; read++) {
            // Marsaglia's xorshift: each of its states is followed by another, never by 0.
            random ^= random << 13;
            random ^= random >>> 7;
            random ^= random << 17;
            int i = (int) (random >>> 48) & (1 << bitsI) - 1;
            int j = (int) (random >>> 32) & (1 << bitsJ) - 1;
            int k = (int) (random >>> 16) & (1 << bitsK) - 1;
            int l = (int) random & (1 << bitsL) - 1;
            sum += elements[index(i, j, k, l)];
        }
        position.random = random;
        return sum;
    }

    /** All elements, the first index the fastest: each read in another page than the one before. */
    @Benchmark
    @OperationsPerInvocation(READS)
    public long walk(Position position) {
        int step = position.step;
        long sum = 0;
        for (int read = 0; read < READS; read++) {
            int rest = step;
            int i = rest & (1 << bitsI) - 1;
            rest >>>= bitsI;
            int j = rest & (1 << bitsJ) - 1;
            rest >>>= bitsJ;
            int k = rest & (1 << bitsK) - 1;
            int l = rest >>> bitsK & (1 << bitsL) - 1;
            sum += elements[index(i, j, k, l)];
            step++;
        }
        position.step = step;
        return sum;
    }
}
