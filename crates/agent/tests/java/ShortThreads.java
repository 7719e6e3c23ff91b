import java.util.concurrent.atomic.AtomicInteger;

/**
 * Drivers start threads one after another and wait for each. {@code drivers=16}: how many drivers; {@code tasks=20000}: threads in all, of
 * which the first quarter is not counted; {@code bytes=4k}: what each allocates, in small objects. Prints the collections.
 */
public final class ShortThreads {
    private static final AtomicInteger LEFT = new AtomicInteger();
    private static volatile Object[] kept;
    private static volatile long before;

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        int tasks = arguments.number("tasks", 20000);
        int bytes = (int) arguments.bytes("bytes", "4k");
        Thread[] drivers = new Thread[arguments.number("drivers", 16)];
        LEFT.set(tasks);
        for (int index = 0; index < drivers.length; index++) {
            drivers[index] = new Thread(() -> drive(tasks, bytes));
            drivers[index].start();
        }
        for (Thread driver : drivers) {
            driver.join();
        }
        System.out.println("done collections=" + (Evidence.collections() - before));
    }

    private static void drive(int tasks, int bytes) {
        for (int left = LEFT.getAndDecrement(); left > 0; left = LEFT.getAndDecrement()) {
            if (left == tasks - tasks / 4) {
                before = Evidence.collections();
            }
            Thread task = new Thread(() -> allocate(bytes));
            task.start();
            try {
                task.join();
            } catch (InterruptedException interrupted) {
                return;
            }
        }
    }

    private static void allocate(int bytes) {
        // With compressed class pointers 24 bytes each.
        for (int allocated = 0; allocated < bytes; allocated += 24) {
            kept = new Object[2];
        }
    }
}
