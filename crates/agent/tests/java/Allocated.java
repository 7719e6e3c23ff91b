import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;

/** What each thread has allocated, by the JVM's own count, beside what it has allocated by the program's. */
public final class Allocated extends Thread {
    private static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    /** Written by all threads, so that no compiler leaves an object out. */
    private static final Object[] LAST = new Object[64];
    private static final CountDownLatch STARTED = new CountDownLatch(8);

    private final int number;
    private long expected;
    private long counted;

    private Allocated(int number) {
        this.number = number;
    }

    public static void main(String[] args) throws Exception {
        Allocated[] threads = new Allocated[8];
        for (int number = 0; number < threads.length; number++) {
            threads[number] = new Allocated(number);
            threads[number].start();
        }
        StringBuilder line = new StringBuilder("done");
        for (int number = 0; number < threads.length; number++) {
            threads[number].join();
            line.append(" counted").append(number).append('=').append(threads[number].counted);
            line.append(" expected").append(number).append('=').append(threads[number].expected);
        }
        System.out.println(line);
    }

    @Override
    public void run() {
        // Classes are loaded, and the bean's own objects made, before it counts.
        work(100);
        BEAN.getThreadAllocatedBytes(getId());
        STARTED.countDown();
        try {
            STARTED.await();
        } catch (InterruptedException interrupted) {
            return;
        }
        long before = BEAN.getThreadAllocatedBytes(getId());
        expected = work(4000);
        counted = BEAN.getThreadAllocatedBytes(getId()) - before;
    }

    /** Arrays of bytes: small ones, some larger than any thread buffer, some larger than any buffer. Gives their size. */
    private long work(int arrays) {
        long state = number + 1;
        long bytes = 0;
        for (int at = 0; at < arrays; at++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            int random = (int) (state >>> 40);
            int length = at % 100 == 99 ? random % 200_000 : at % 10 == 9 ? random % 9_000 : random % 300;
            LAST[random & 63] = new byte[length];
            // A header of 16 bytes, and whole words of 8.
            bytes += (16 + length + 7) & ~7;
        }
        return bytes;
    }
}
