package terrace.threads;

import java.security.AccessController;
import java.security.PrivilegedAction;

/**
 * Begins the threads of terrace's own, which stay as long as the JVM: they hold nothing of whoever had them begin.
 *
 * <p>A thread inherits thread locals, the context class loader, the group and, until JDK 23, the protection domains of all callers, each of which holds its class loader.
 */
public final class Daemon implements PrivilegedAction<Thread> {
    private final String name;
    private final Runnable task;
    private final long stackBytes;

    private Daemon(String name, Runnable task, long stackBytes) {
        this.name = name;
        this.task = task;
        this.stackBytes = stackBytes;
    }

    /** A thread that does this, begun; with as much stack as others with 0. */
    public static Thread begin(String name, Runnable task, long stackBytes) {
        // Only this class's own protection domain is inherited so.
        return AccessController.doPrivileged(new Daemon(name, task, stackBytes));
    }

    @Override
    public Thread run() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        Thread thread = new Thread(group, task, name, stackBytes, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
        thread.start();
        return thread;
    }
}
