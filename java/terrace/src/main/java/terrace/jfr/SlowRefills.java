package terrace.jfr;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import terrace.Counters;

/** Refills that the library has timed ({@code crates/agent/src/refills}), on their way into a recording. */
final class SlowRefills {
    /** Words of a record: start, duration, memory, kind, thread, the system's thread, CPU. */
    private static final int WORDS = 7;

    private static final int HEADER = 1;
    private static final int THREAD = 0xfe;
    private static final int HEAP = 0xff;
    private static final String[] WAITED = {"unknown", "heap lock", "collection"};
    /** Of {@link #take}, for all that the library keeps. */
    private static final int CALLS = 16;
    /** Between two readings of both clocks: what a reading takes is nothing against it. */
    private static final long STEP = 100_000_000;

    /** Nanoseconds from which on they are recorded at present; negative: none are. */
    private static long wanted = -1;

    private static long lost;
    /** The same moment by JFR's clock and by {@link System#nanoTime}, which is the library's. */
    private static long knownTicks;

    private static long knownNanos;

    private SlowRefills() {}

    /** Records those that take at least so long from now on, or none with a negative number. */
    private static native void want(long nanos);

    /** How many were lost since the JVM's start, and what was recorded since the last call: some of it, while there is more. */
    private static native long[] take();

    /** By which the library knows a thread; 0 of one that does not run. */
    private static native long address(Thread thread);

    static synchronized void record(long least) {
        if (least == wanted) {
            return;
        }
        if (wanted < 0) {
            knownTicks = Refill.now();
            knownNanos = System.nanoTime();
            forget();
        }
        wanted = least;
        want(least);
    }

    /** What an earlier recording has left. */
    private static void forget() {
        for (long[] left = take(); left != null; left = take()) {
            lost = left[0];
            if (left.length == HEADER) {
                break;
            }
        }
    }

    /** Writes what was recorded into the recordings. */
    static synchronized void commit(Counters counters) {
        if (wanted < 0) {
            return;
        }
        List<Counters.Level> levels = counters.levels();
        Map<Long, Thread> threads = null;
        // Not until there are none: threads may refill faster than this.
        for (int call = 0; call < CALLS; call++) {
            long[] taken = take();
            if (taken == null) {
                return;
            }
            if (taken.length > HEADER) {
                threads = threads == null ? threads() : threads;
                long ticks = Refill.now();
                long nanos = System.nanoTime();
                double ratio = (double) (ticks - knownTicks) / Math.max(1, nanos - knownNanos);
                for (int at = HEADER; at < taken.length; at += WORDS) {
                    Refill event = event(taken, at, levels, threads);
                    event.took(ticks - (long) ((nanos - taken[at]) * ratio), (long) (taken[at + 1] * ratio));
                    event.commit();
                }
                if (nanos - knownNanos > STEP) {
                    knownTicks = ticks;
                    knownNanos = nanos;
                }
            }
            tellLoss(taken[0]);
            if (taken.length == HEADER) {
                return;
            }
        }
    }

    private static void tellLoss(long total) {
        if (total > lost) {
            RefillLoss event = new RefillLoss();
            event.lost = total - lost;
            event.total = total;
            event.commit();
            lost = total;
        }
    }

    private static Refill event(long[] taken, int at, List<Counters.Level> levels, Map<Long, Thread> threads) {
        Refill event = new Refill();
        long kind = taken[at + 3];
        event.memory = taken[at + 2];
        event.level = place((int) kind & 0xff, levels);
        event.source = place((int) (kind >> 8) & 0xff, levels);
        event.waitedFor = WAITED[(int) (kind >> 16) & 3];
        event.direct = (kind >> 24 & 1) != 0;
        event.thread = threads.get(taken[at + 4]);
        event.osThreadId = taken[at + 5];
        event.cpu = (int) taken[at + 6];
        return event;
    }

    private static String place(int number, List<Counters.Level> levels) {
        return number == HEAP ? "heap" : number == THREAD || number >= levels.size() ? "thread" : levels.get(number).name();
    }

    private static Map<Long, Thread> threads() {
        ThreadGroup all = Thread.currentThread().getThreadGroup();
        while (all.getParent() != null) {
            all = all.getParent();
        }
        Thread[] found = new Thread[all.activeCount() + 64];
        int count;
        while ((count = all.enumerate(found)) == found.length) {
            found = new Thread[2 * found.length];
        }
        Map<Long, Thread> threads = new HashMap<>();
        for (int at = 0; at < count; at++) {
            threads.put(address(found[at]), found[at]);
        }
        threads.remove(0L);
        return threads;
    }
}
