/**
 * Threads that alternate one {@code byte[large=100000]} with {@code small=20} {@code byte[64]}: what is left of a TLAB seldom fits the large
 * one. {@code threads=2}: how many; {@code collections=8}: until so many came after the first, between the moments at which the first and the last
 * were noticed {@code bytes=} were allocated for each collection. Whichever thread comes out of a collection first notices it, so that hardly more
 * than a large array of each thread is uncertain.
 */
public final class Alternating extends Thread {
    private static volatile byte[] kept;
    private static volatile boolean over;
    private static Alternating[] threads;
    private static long last;
    private static long collectionsAtFirst = -1;
    private static long collectionsAtLast;
    private static long bytesAtFirst;
    private static long bytesAtLast;

    private final int collections;
    private final int large;
    private final int small;
    /** Written by this thread alone. */
    private volatile long bytes;

    private Alternating(int collections, int large, int small) {
        this.collections = collections;
        this.large = large;
        this.small = small;
    }

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        int collections = arguments.number("collections", 8);
        int large = arguments.number("large", 100_000);
        int small = arguments.number("small", 20);
        threads = new Alternating[arguments.number("threads", 2)];
        for (int number = 0; number < threads.length; number++) {
            threads[number] = new Alternating(collections, large, small);
        }
        last = Evidence.collections();
        for (Alternating thread : threads) {
            thread.start();
        }
        for (Alternating thread : threads) {
            thread.join();
        }
        long counted = collectionsAtLast - collectionsAtFirst;
        System.out.println("done collections=" + counted + " bytes=" + (bytesAtLast - bytesAtFirst) / counted);
    }

    @Override
    public void run() {
        // With headers, and with lengths rounded up.
        long group = large + 16 + small * 80L;
        while (!over) {
            kept = new byte[large];
            for (int number = 0; number < small; number++) {
                kept = new byte[64];
            }
            bytes += group;
            notice(collections);
        }
    }

    private static synchronized void notice(int collections) {
        long now = Evidence.collections();
        if (now == last || over) {
            return;
        }
        last = now;
        long bytes = 0;
        for (Alternating thread : threads) {
            bytes += thread.bytes;
        }
        if (collectionsAtFirst < 0) {
            collectionsAtFirst = now;
            bytesAtFirst = bytes;
        }
        collectionsAtLast = now;
        bytesAtLast = bytes;
        over = now - collectionsAtFirst >= collections;
    }
}
