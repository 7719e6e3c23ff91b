import java.util.ArrayList;
import java.util.List;

/**
 * A load that changes: many threads that allocate little each, while somebody collects the whole heap with live data in it again and
 * again; then few threads that allocate much, and collections are short.
 */
public final class Phases {
    private static volatile int phase;
    private static Object live;
    private static volatile Object thrown;

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        long checked = 0;
        live = objects(arguments.bytes("live", "4m"));
        checked += run("many", arguments.number("many", 16), true);
        live = null;
        System.gc();
        checked += run("few", arguments.number("few", 2), false);
        System.out.println("done checked=" + checked);
    }

    /** So many bytes in objects of 64. */
    private static Object objects(long bytes) {
        byte[][] objects = new byte[(int) (bytes / 64)][];
        for (int at = 0; at < objects.length; at++) {
            objects[at] = new byte[48];
        }
        return objects;
    }

    private static long run(String mark, int threads, boolean collects) throws Exception {
        int own = ++phase;
        List<Thread> running = new ArrayList<>();
        List<Keeper> keepers = new ArrayList<>();
        for (int number = 0; number < threads; number++) {
            Keeper keeper = new Keeper(number + (own << 8), 64 << 10, 4 << 10);
            keepers.add(keeper);
            Thread thread = new Thread(() -> every(own, collects ? 20 : 0, () -> keeper.work(collects ? 10 : 300)));
            running.add(thread);
            if (!collects) {
                // Refills are many, also where objects that are checked come slowly.
                running.add(new Thread(() -> every(own, 0, Phases::garbage)));
            }
        }
        if (collects) {
            running.add(new Thread(() -> every(own, 5, System::gc)));
        }
        running.forEach(Thread::start);
        Marks.at(mark);
        phase++;
        long checked = 0;
        for (Thread thread : running) {
            thread.join();
        }
        for (Keeper keeper : keepers) {
            keeper.finish();
            checked += keeper.checked;
        }
        return checked;
    }

    private static void garbage() {
        for (int number = 0; number < 100_000; number++) {
            thrown = new byte[200];
        }
        thrown = null;
    }

    private static void every(int own, int millis, Runnable work) {
        while (phase == own) {
            work.run();
            try {
                Thread.sleep(millis);
            } catch (InterruptedException interrupted) {
                return;
            }
        }
    }
}
