/**
 * Two threads allocate small objects all the time, and many a few now and then: HotSpot gives the two TLABs larger than a core's buffer,
 * which the others keep filled. {@code idle=60}: how many others; {@code collections=60}: until so many were seen.
 */
public final class BusyAndIdle {
    private static volatile Object[] kept;
    private static volatile boolean over;

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        int idle = arguments.number("idle", 60);
        int collections = arguments.number("collections", 60);
        Thread[] threads = new Thread[2 + idle];
        for (int index = 0; index < threads.length; index++) {
            boolean busy = index < 2;
            threads[index] = new Thread(() -> run(busy));
            threads[index].start();
        }
        while (Evidence.collections() < collections) {
            Thread.sleep(1);
        }
        over = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done");
    }

    private static void run(boolean busy) {
        while (!over) {
            for (int number = 0; number < 100; number++) {
                kept = new Object[2];
            }
            if (!busy) {
                try {
                    Thread.sleep(5);
                } catch (InterruptedException interrupted) {
                    return;
                }
            }
        }
    }
}
