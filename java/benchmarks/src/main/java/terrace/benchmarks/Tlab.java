package terrace.benchmarks;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * One object per operation, of 16, 48 or 144 bytes with compressed class pointers; the sizes are checked.
 *
 * <p>The objects are returned, so they escape and are really allocated, and nobody keeps them, so threads share nothing but the
 * allocator: references stored into an array would contend for its cards.
 */
@Fork(1)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@State(Scope.Benchmark)
public class Tlab {
    private static final int PROBES = 1_000;

    /** 48 bytes: a header of 12, an int, four longs. */
    public static class Small {
        int number;
        long a;
        long b;
        long c;
        long d;
    }

    /** 144 bytes: twelve longs more. */
    public static final class Large extends Small {
        long e;
        long f;
        long g;
        long h;
        long i;
        long j;
        long k;
        long l;
        long m;
        long n;
        long o;
        long p;
    }

    private Object probe;

    /** The sizes that the names promise; other headers would make other objects. */
    @Setup
    public void check() {
        checkSize(16, Object::new);
        checkSize(48, Small::new);
        checkSize(144, Large::new);
    }

    private void checkSize(long expected, Supplier<Object> allocation) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        probe = allocation.get();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < PROBES; i++) {
            probe = allocation.get();
        }
        long bytes = (threads.getCurrentThreadAllocatedBytes() - before) / PROBES;
        if (bytes != expected) {
            throw new IllegalStateException(probe.getClass() + " has " + bytes + " bytes here, not " + expected
                    + "; run with 12-byte headers: -XX:+UseCompressedClassPointers -XX:-UseCompactObjectHeaders");
        }
    }

    /** The smallest object that there is: nothing but a header. */
    @Benchmark
    public Object object16() {
        return new Object();
    }

    /** An object of 48 bytes. */
    @Benchmark
    public Object object48() {
        return new Small();
    }

    /** An object of 144 bytes. */
    @Benchmark
    public Object object144() {
        return new Large();
    }
}
