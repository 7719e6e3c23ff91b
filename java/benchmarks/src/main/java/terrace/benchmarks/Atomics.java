package terrace.benchmarks;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.openjdk.jmh.annotations.AuxCounters;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.ThreadParams;

/**
 * Counting by several threads: with an atomic add, with a loop of compare-and-set, with a {@link LongAdder}, and in batches. An
 * operation adds 1. Each benchmark throws at its end when the sum is not the number of operations.
 *
 * <p>An atomic add waits for all stores before it. Stores of ours, such as the count of operations, would therefore be part of
 * the figure; so the three that use one are loops, which no compiler can shorten: each round is a full fence.
 */
@Fork(value = 1, jvmArgsAppend = Internals.FLAG)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class Atomics {
    private static final int INCREMENTS = 1000;

    /** A thread with its counter. */
    @State(Scope.Thread)
    public static class Owner {
        private long counter;
        private long done;

        /** Finds its counter. */
        @Setup(Level.Trial)
        public void take(Counters counters, ThreadParams thread) {
            counter = counters.of(thread.getThreadIndex());
        }

        /** Accounts for what it did. */
        @TearDown(Level.Trial)
        public void account(Counters counters) {
            counters.finished(done);
        }
    }

    /** How often a compare-and-set lost. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.OPERATIONS)
    public static class Failures {
        /** Failed attempts; over the operations, the failures for each success. */
        public long retries;
    }

    /** The adder that all threads share. */
    @State(Scope.Benchmark)
    public static class Adder {
        private LongAdder adder;
        private Tally tally;

        /** At 0. */
        @Setup(Level.Trial)
        public void create(BenchmarkParams parameters) {
            adder = new LongAdder();
            tally = new Tally(parameters.getThreads());
        }
    }

    /** A thread that uses the adder. */
    @State(Scope.Thread)
    public static class Adding {
        private long done;

        /** Accounts for what it did. */
        @TearDown(Level.Trial)
        public void account(Adder shared) {
            shared.tally.finished(done, shared.adder::sum);
        }
    }

    /** The sequence of which threads claim batches. */
    @State(Scope.Benchmark)
    public static class Sequence {
        /** How many numbers a thread claims at once. */
        @Param({"1", "16", "256", "4096"})
        public int batch;

        private AtomicLong next;
        private Tally tally;

        /** At 0. */
        @Setup(Level.Trial)
        public void create(BenchmarkParams parameters) {
            next = new AtomicLong();
            tally = new Tally(parameters.getThreads());
        }
    }

    /** A thread with what it has claimed: {@code [top, end)}, as in a thread-local allocation buffer. */
    @State(Scope.Thread)
    public static class Claim {
        private long top;
        private long end;
        private long done;

        /** Accounts for what it did and for what is left of its last batch. */
        @TearDown(Level.Trial)
        public void account(Sequence sequence) {
            sequence.tally.finished(done + (end - top), sequence.next::get);
        }
    }

    /** Atomic adds. */
    @Benchmark
    @OperationsPerInvocation(INCREMENTS)
    public long incrementAndGet(Counters counters, Owner owner) {
        long counter = owner.counter;
        long last = 0;
        for (int i = 0; i < INCREMENTS; i++) {
            last = Internals.incrementAndGet(counter);
        }
        owner.done += INCREMENTS;
        return last;
    }

    /** Read, add, compare-and-set, until it succeeds. */
    @Benchmark
    @OperationsPerInvocation(INCREMENTS)
    public long compareAndSet(Counters counters, Owner owner, Failures failures) {
        long counter = owner.counter;
        long attempts = 0;
        for (int successes = 0; successes < INCREMENTS; attempts++) {
            long seen = Internals.get(counter);
            if (Internals.compareAndSet(counter, seen, seen + 1)) {
                successes++;
            }
        }
        owner.done += INCREMENTS;
        failures.retries += attempts - INCREMENTS;
        return attempts;
    }

    /** A counter that spreads over cells when threads collide. */
    @Benchmark
    @OperationsPerInvocation(INCREMENTS)
    public void longAdder(Adder shared, Adding adding) {
        LongAdder adder = shared.adder;
        for (int i = 0; i < INCREMENTS; i++) {
            adder.increment();
        }
        adding.done += INCREMENTS;
    }

    /** The next number of the thread's batch; an atomic add on the shared sequence only when it is used up. */
    @Benchmark
    public long claimed(Sequence sequence, Claim claim) {
        claim.done++;
        if (claim.top == claim.end) {
            claim.top = sequence.next.getAndAdd(sequence.batch);
            claim.end = claim.top + sequence.batch;
        }
        return claim.top++;
    }
}
