import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.List;

/** Fills the heap until it is out of memory, with soft references to let go of first; tells how much was live then. */
public final class Exhaust {
    private static final Object LOCK = new Object();
    private static long live;
    private static boolean full;

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        int threads = arguments.number("threads", 4);
        List<Thread> running = new ArrayList<>();
        List<List<byte[]>> all = new ArrayList<>();
        for (int number = 0; number < threads; number++) {
            List<byte[]> mine = new ArrayList<>(1 << 16);
            all.add(mine);
            Thread thread = new Thread(() -> fill(mine));
            running.add(thread);
        }
        running.forEach(Thread::start);
        for (Thread thread : running) {
            thread.join();
        }
        long bytes = live;
        all.clear();
        System.out.println("done live=" + bytes);
    }

    private static void fill(List<byte[]> mine) {
        List<SoftReference<byte[]>> soft = new ArrayList<>(1 << 14);
        long bytes = 0;
        try {
            for (int at = 0; ; at++) {
                synchronized (LOCK) {
                    // What all threads hold is what counts: the first that is out of memory ends it.
                    if (full) {
                        return;
                    }
                }
                byte[] array = new byte[64 + at % 7 * 200];
                mine.add(array);
                bytes += 16 + array.length;
                if (at % 8 == 0 && soft.size() < 1 << 13) {
                    soft.add(new SoftReference<>(new byte[512]));
                }
            }
        } catch (OutOfMemoryError error) {
            synchronized (LOCK) {
                full = true;
            }
        } finally {
            synchronized (LOCK) {
                live += bytes;
            }
        }
    }
}
