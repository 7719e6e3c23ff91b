package terrace.workloads;

import java.lang.management.ManagementFactory;

/** What the JVM says about the bytes that a thread allocated: used parts of its buffers, without waste. */
final class Allocation {
    private static final com.sun.management.ThreadMXBean THREADS =
            ManagementFactory.getPlatformMXBean(com.sun.management.ThreadMXBean.class);

    private Allocation() {}

    /** The bean that counts. */
    static com.sun.management.ThreadMXBean threads() {
        return THREADS;
    }

    /** Bytes allocated by the current thread so far. */
    static long byCurrentThread() throws CheckException {
        long bytes = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
        if (bytes < 0) {
            throw new CheckException(
                    "this JVM does not count the bytes that a thread allocates: run a HotSpot JVM with its defaults");
        }
        return bytes;
    }
}
