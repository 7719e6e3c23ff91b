import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Thousands of virtual threads allocate, wait, and allocate again: most let their carrier go while they wait, some are pinned to it,
 * by a monitor (21) or by a native frame.
 */
public final class Virtual {
    private static final AtomicLong CHECKED = new AtomicLong();
    private static final AtomicInteger ENDED = new AtomicInteger();
    /** Waits after which a thread was on another carrier. */
    private static final AtomicInteger MOVED = new AtomicInteger();

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        Foreign.load(arguments);
        Evidence evidence = new Evidence(arguments);
        // Compiled for 17, too.
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        int wave = arguments.number("wave", 1000);
        int threads = 0;
        while (threads < 3 * wave || MOVED.get() == 0 || !evidence.isThere()) {
            CountDownLatch ended = new CountDownLatch(wave);
            for (int number = 0; number < wave; number++) {
                int first = threads++;
                start.invoke(null, (Runnable) () -> {
                    keep(first);
                    ended.countDown();
                });
            }
            ended.await();
        }
        if (ENDED.get() != threads) {
            Keeper.corrupt(ENDED + " of " + threads + " threads came to their end");
        }
        System.out.println("done threads=" + threads + " checked=" + CHECKED + " moved=" + MOVED);
    }

    private static void keep(int number) {
        Keeper keeper = new Keeper(number, 2 << 10, 1 << 10);
        keeper.work(20);
        switch (number % 8) {
            case 0:
                Foreign.call(() -> pinned(keeper));
                break;
            case 1:
                synchronized (keeper) {
                    rest(keeper);
                }
                break;
            default:
                if (!rest(keeper)) {
                    MOVED.incrementAndGet();
                }
        }
        keeper.work(20);
        keeper.finish();
        CHECKED.addAndGet(keeper.checked);
        ENDED.incrementAndGet();
    }

    private static void pinned(Keeper keeper) {
        if (!rest(keeper)) {
            Keeper.corrupt("a thread with a native frame changed its carrier");
        }
    }

    /** Waits, allocates, waits; says whether the carrier is the same after it. */
    private static boolean rest(Keeper keeper) {
        String before = carrier();
        try {
            Thread.sleep(1);
            keeper.work(20);
            Thread.yield();
        } catch (InterruptedException interrupted) {
            Keeper.corrupt("interrupted");
        }
        return carrier().equals(before);
    }

    /** {@code VirtualThread[#31]/runnable@ForkJoinPool-1-worker-1}. */
    private static String carrier() {
        String text = Thread.currentThread().toString();
        return text.substring(text.indexOf('@') + 1);
    }
}
