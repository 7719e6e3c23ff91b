import java.io.File;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * What must have happened before a program may end. It runs until the evidence is there, however slow or busy the machine is; a time
 * is only the least that it runs, and the limit is there for a program that would never end.
 *
 * <ul>
 * <li>{@code until=FILE}: whoever works at this JVM from outside says by a file that it is done; all else counts from then on
 * <li>{@code pauses=N}: so many collections since the program began; Shenandoah collects before the agent may count
 * <li>{@code millis=N}: at least so long
 * <li>{@code limit=N}, or else what {@code LIMIT} in the environment says: at most so many seconds
 * </ul>
 */
final class Evidence {
    private static final List<GarbageCollectorMXBean> BEANS = ManagementFactory.getGarbageCollectorMXBeans();

    private final File released;
    private final long pauses;
    private final long millis;
    private final long limit;
    private final long begin = System.nanoTime();
    private boolean pending;
    private long since = begin;
    private long before = collections();

    Evidence(Arguments arguments) {
        String until = arguments.text("until", "");
        released = new File(until);
        pending = !until.isEmpty();
        pauses = arguments.number("pauses", 0);
        millis = arguments.number("millis", 100);
        limit = arguments.number("limit", Integer.parseInt(System.getenv().getOrDefault("LIMIT", "200")));
    }

    /** Collections so far, as the JVM's own beans count them. */
    static long collections() {
        long collections = 0;
        // By index: whoever waits in a full heap must not need memory for it.
        for (int at = 0; at < BEANS.size(); at++) {
            collections += Math.max(0, BEANS.get(at).getCollectionCount());
        }
        return collections;
    }

    /** Whether something is still to be done from outside. */
    synchronized boolean isPending() {
        if (pending && released.exists()) {
            since = System.nanoTime();
            before = collections();
            pending = false;
        }
        return pending;
    }

    /** Whether the program may end. */
    synchronized boolean isThere() {
        if (isOver()) {
            return true;
        }
        return !isPending() && (System.nanoTime() - since) / 1_000_000 >= millis && collections() - before >= pauses;
    }

    /** Whether the limit has passed. */
    boolean isOver() {
        return (System.nanoTime() - begin) / 1_000_000_000 >= limit;
    }

    /** Waits until it may, and {@code more} says so, too. */
    void await(BooleanSupplier more) throws InterruptedException {
        while (!Keeper.stop && !isOver() && !(isThere() && more.getAsBoolean())) {
            Thread.sleep(2);
        }
    }
}
