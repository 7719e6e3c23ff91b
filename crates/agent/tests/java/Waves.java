import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/** Live data come and go in waves; each has to have made the heap grow, and then shrink, before the next one comes. */
public final class Waves {
    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        Evidence evidence = new Evidence(arguments);
        int threads = 8;
        long live = arguments.bytes("live", "24m") / threads;
        boolean gc = arguments.number("gc", 1) > 0;
        int waves = 0;
        long checked = 0;
        while (waves < arguments.number("waves", 2) || !evidence.isThere()) {
            List<Thread> running = new ArrayList<>();
            List<Keeper> keepers = new ArrayList<>();
            for (int number = 0; number < threads; number++) {
                Keeper keeper = new Keeper(number + waves * threads, live, 16 << 10);
                keepers.add(keeper);
                Thread thread = new Thread(() -> {
                    while (keeper.bytes < live) {
                        keeper.work(100);
                    }
                });
                running.add(thread);
                thread.start();
            }
            for (Thread thread : running) {
                thread.join();
            }
            long high = committed();
            for (Keeper keeper : keepers) {
                keeper.finish();
                checked += keeper.checked;
            }
            keepers.clear();
            Keeper small = new Keeper(-1 - waves, 64 << 10, 4 << 10);
            while (committed() > high - (high >> 2)) {
                if (evidence.isOver()) {
                    System.out.println("never shrank: " + high + " then " + committed());
                    System.exit(3);
                }
                small.work(100);
                if (gc) {
                    System.gc();
                }
                Thread.sleep(10);
            }
            small.finish();
            waves++;
        }
        System.out.println("done waves=" + waves + " checked=" + checked);
    }

    private static long committed() {
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted();
    }
}
