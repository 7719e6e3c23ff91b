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

    private Daemon(String name, Runnable task) {
        this.name = name;
        this.task = task;
    }

    /** A thread that does this, begun. It has as much stack as all others: agents in Java transform on it the classes that it loads. */
    public static Thread begin(String name, Runnable task) {
        // Only this class's own protection domain is inherited so.
        return AccessController.doPrivileged(new Daemon(name, task));
    }

    @Override
    public Thread run() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        Thread thread = new Thread(group, task, name, 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
        thread.start();
        return thread;
    }
}
