import java.io.File;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that allocate small arrays, stamp every word of them, keep the last few hundred, and check every word before they let go:
 * two objects at one place, or one that a collection damaged, cannot escape that. Runs until a file named {@code stop} is there, or
 * so many bytes are allocated. Threads end after so many objects, and others take over what they kept; or they never end.
 */
public final class Soak {
    private static final int KEPT = 256;
    private static final int LARGEST_WORDS = 64;
    private static final AtomicLong CHECKED = new AtomicLong();
    private static final AtomicLong BYTES = new AtomicLong();
    private static int largest;
    private static volatile boolean stop;
    private static volatile Throwable failure;

    private final SplittableRandom random;
    private final long[][] kept = new long[KEPT][];
    private int at;
    private long stamp;
    private long bytes;
    private long checked;

    private Soak(long seed) {
        random = new SplittableRandom(seed);
        stamp = seed << 40;
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        long seed = Long.parseLong(args[1]);
        long most = Long.parseLong(args[2]) / threads;
        long life = Long.parseLong(args[3]);
        largest = Integer.parseInt(args[4]);
        // Among threads that are at work already the last ones would wait long for their turn to begin.
        CountDownLatch begin = new CountDownLatch(1);
        List<Thread> running = new ArrayList<>();
        for (int number = 0; number < threads; number++) {
            Soak soak = new Soak(seed * 1000 + number);
            Thread thread = new Thread(() -> {
                try {
                    begin.await();
                    soak.live(most, life);
                } catch (Throwable thrown) {
                    failure = thrown;
                    stop = true;
                }
                CHECKED.addAndGet(soak.checked);
                BYTES.addAndGet(soak.bytes);
            });
            thread.start();
            running.add(thread);
        }
        System.out.println("running");
        begin.countDown();
        File file = new File("stop");
        while (!stop && !file.exists()) {
            Thread.sleep(20);
        }
        stop = true;
        for (Thread thread : running) {
            thread.join();
        }
        if (failure != null) {
            failure.printStackTrace();
            System.exit(2);
        }
        long collections = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            collections += Math.max(0, bean.getCollectionCount());
        }
        System.out.println("done checked=" + CHECKED + " bytes=" + BYTES + " collections=" + collections);
    }

    /** Works in this thread, or in threads that follow one another. */
    private void live(long most, long life) throws Throwable {
        if (life == 0) {
            work(most, Long.MAX_VALUE);
        }
        while (!stop && bytes < most) {
            Throwable[] thrown = new Throwable[1];
            Thread thread = new Thread(() -> work(most, life));
            thread.setUncaughtExceptionHandler((which, what) -> thrown[0] = what);
            thread.start();
            thread.join();
            if (thrown[0] != null) {
                throw thrown[0];
            }
        }
        for (long[] array : kept) {
            check(array);
        }
    }

    private void work(long most, long life) {
        for (long done = 0; !stop && bytes < most && done < life; done += 1000) {
            for (int round = 0; round < 1000; round++) {
                check(kept[at]);
                kept[at] = stamped();
                at = (at + 1) % KEPT;
            }
        }
    }

    private long[] stamped() {
        int draw = random.nextInt();
        // Mostly a few words; now and then more than a thread buffer has.
        int words = (draw & 0xfff) == 0 ? 200 + (draw >>> 12) % largest : 1 + (draw >>> 12) % LARGEST_WORDS;
        long[] array = new long[words];
        long first = stamp++;
        for (int at = 0; at < words; at++) {
            if (array[at] != 0) {
                corrupt("a new object holds " + Long.toHexString(array[at]));
            }
            array[at] = first ^ at;
        }
        bytes += 16 + 8L * words;
        return array;
    }

    private void check(long[] array) {
        if (array == null) {
            return;
        }
        long first = array[0];
        for (int at = 0; at < array.length; at++) {
            if (array[at] != (first ^ at)) {
                corrupt("object " + Long.toHexString(first) + " holds " + Long.toHexString(array[at]) + " at " + at);
            }
        }
        checked++;
    }

    private static void corrupt(String what) {
        System.err.println("CORRUPT: " + what);
        Runtime.getRuntime().halt(99);
    }
}
