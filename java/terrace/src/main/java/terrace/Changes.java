package terrace;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import javax.management.ListenerNotFoundException;
import javax.management.MBeanNotificationInfo;
import javax.management.Notification;
import javax.management.NotificationBroadcasterSupport;
import javax.management.NotificationFilter;
import javax.management.NotificationListener;
import terrace.threads.Daemon;

/** Tells of changes. The agent calls no Java, so a thread looks for them, as long as somebody listens. */
final class Changes extends NotificationBroadcasterSupport implements Runnable {
    private static final String STATE = "terrace.state";
    private static final String SIZES = "terrace.sizes";
    private static final long PERIOD_MILLIS = 500;

    private final BuffersMXBean buffers;
    private final Map<NotificationListener, Integer> listeners = new HashMap<>();
    private Thread looking;
    /** What was told last, or what there was when somebody began to listen: read by him, and by the thread that looks. */
    private volatile String state;

    private volatile String sizes;
    private long sequence;

    Changes(BuffersMXBean buffers) {
        super(new MBeanNotificationInfo(new String[] {STATE, SIZES}, Notification.class.getName(), "The state or the size of the buffers changed."));
        this.buffers = buffers;
    }

    @Override
    public synchronized void addNotificationListener(NotificationListener listener, NotificationFilter filter, Object handback) {
        super.addNotificationListener(listener, filter, handback);
        listeners.merge(listener, 1, Integer::sum);
        if (looking == null) {
            // Before the thread runs: what changes from here on is told.
            state = state();
            sizes = sizes();
            looking = Daemon.begin("terrace notifications", this);
        }
    }

    @Override
    public synchronized void removeNotificationListener(NotificationListener listener) throws ListenerNotFoundException {
        super.removeNotificationListener(listener);
        listeners.remove(listener);
        notifyAll();
    }

    @Override
    public synchronized void removeNotificationListener(NotificationListener listener, NotificationFilter filter, Object handback)
            throws ListenerNotFoundException {
        super.removeNotificationListener(listener, filter, handback);
        listeners.computeIfPresent(listener, (same, count) -> count > 1 ? count - 1 : null);
        notifyAll();
    }

    @Override
    public void run() {
        while (isWanted()) {
            String before = state;
            state = state();
            tell(STATE, before, state);
            before = sizes;
            sizes = sizes();
            tell(SIZES, before, sizes);
        }
    }

    private String state() {
        String message = buffers.getMessage();
        return message.isEmpty() ? buffers.getState() : buffers.getState() + ": " + message;
    }

    private String sizes() {
        return buffers.getLevels().stream().map(level -> level.getName() + " " + level.getBufferBytes() + " bytes").collect(Collectors.joining(", "));
    }

    /** Waits a while; whether somebody still listens then. */
    private synchronized boolean isWanted() {
        try {
            wait(PERIOD_MILLIS);
        } catch (InterruptedException interrupted) {
            listeners.clear();
        }
        if (listeners.isEmpty()) {
            looking = null;
        }
        return looking == Thread.currentThread();
    }

    private void tell(String type, String before, String now) {
        if (!before.equals(now)) {
            sendNotification(new Notification(type, Buffers.NAME, ++sequence, now));
        }
    }
}
