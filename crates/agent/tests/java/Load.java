import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** Keepers in many threads, with collections and heap walks beside them. */
public final class Load {
    private static final AtomicLong CHECKED = new AtomicLong();
    private static final AtomicLong BYTES = new AtomicLong();
    private static final AtomicLong EXHAUSTED = new AtomicLong();
    private static final AtomicLong COMMANDS = new AtomicLong();
    private static final AtomicLong ASKED = new AtomicLong();
    private static volatile Throwable failure;
    /** Among so many busy threads another may wait a minute for its turn: let it have one. */
    private static boolean gentle;
    private static Evidence evidence;

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        int threads = arguments.number("threads", 16);
        long live = arguments.bytes("live", "4m") / threads;
        int largest = (int) arguments.bytes("largest", "16k");
        long most = arguments.bytes("most", "1000000m") / threads;
        // 0: each thread lives as long as the load.
        int rounds = arguments.number("rounds", 0);
        int gc = arguments.number("gc", 0);
        String command = arguments.text("command", "");
        int asked = arguments.number("asked", gc > 0 ? 2 : 0);
        int commands = arguments.number("commands", command.isEmpty() ? 0 : 4);
        boolean outside = !arguments.text("until", "").isEmpty();
        gentle = arguments.text("gentle", String.valueOf(gc > 0 || commands > 0 || outside)).equals("true");
        if (!command.isEmpty()) {
            // Its classes are loaded while nobody is in the way.
            command(command);
        }
        evidence = new Evidence(arguments);
        List<Thread> running = new ArrayList<>();
        for (int number = 0; number < threads; number++) {
            int first = number;
            running.add(start(() -> keep(first, threads, rounds, live, largest, most)));
        }
        if (gc > 0) {
            running.add(start(() -> every(gc, () -> {
                System.gc();
                ASKED.incrementAndGet();
            })));
        }
        if (!command.isEmpty()) {
            running.add(start(() -> every(arguments.number("every", 10), () -> command(command))));
        }
        System.out.println("running");
        evidence.await(() -> ASKED.get() >= asked && COMMANDS.get() >= commands);
        Keeper.stop = true;
        for (Thread thread : running) {
            thread.join();
        }
        if (failure != null) {
            failure.printStackTrace();
            System.exit(2);
        }
        System.out.println("done checked=" + CHECKED + " bytes=" + BYTES + " collections=" + Evidence.collections()
            + " commands=" + COMMANDS + " exhausted=" + EXHAUSTED);
    }

    private static Thread start(Runnable work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Throwable thrown) {
                failure = thrown;
                Keeper.stop = true;
            }
        });
        thread.start();
        return thread;
    }

    private static void keep(int number, int threads, int rounds, long live, int largest, long most) {
        Keeper keeper = new Keeper(number, live, largest);
        if (rounds > 0) {
            keeper.work(rounds);
        } else {
            while (!Keeper.stop) {
                // Without collections memory must last until all is done: the more of it is used, the slower.
                boolean scarce = keeper.bytes >= most / 2;
                if (keeper.bytes >= most && !evidence.isPending()) {
                    break;
                }
                keeper.work(scarce && evidence.isPending() ? 10 : gentle ? 300 : 1000);
                if (scarce && evidence.isPending()) {
                    pause(100);
                } else if (gentle) {
                    pause(1);
                }
            }
        }
        keeper.finish();
        CHECKED.addAndGet(keeper.checked);
        BYTES.addAndGet(keeper.bytes);
        EXHAUSTED.addAndGet(keeper.exhausted);
        if (rounds > 0 && !Keeper.stop) {
            Thread heir = start(() -> keep(number + threads, threads, rounds, live, largest, most));
            heir.setName("heir");
        }
    }

    private static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException interrupted) {
            Keeper.stop = true;
        }
    }

    private static void every(int millis, Runnable work) {
        while (!Keeper.stop) {
            work.run();
            try {
                Thread.sleep(millis);
            } catch (InterruptedException interrupted) {
                return;
            }
        }
    }

    /** {@code dump}, or a diagnostic command and its arguments, separated by commas: {@code gcClassHistogram,-all}. */
    private static void command(String text) {
        long number = COMMANDS.get() + 1;
        String[] parts = text.split(",");
        String[] arguments = new String[parts.length - 1];
        System.arraycopy(parts, 1, arguments, 0, arguments.length);
        try {
            if (text.equals("dump")) {
                // All objects, dead ones too, then the live ones alone.
                ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .dumpHeap("walk" + number + ".hprof", number % 2 == 0);
                COMMANDS.set(number);
                return;
            }
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName name = new ObjectName("com.sun.management:type=DiagnosticCommand");
            Object answer = parts.length == 1 && !text.endsWith(",")
                ? server.invoke(name, parts[0], null, null)
                : server.invoke(name, parts[0], new Object[] {arguments}, new String[] {String[].class.getName()});
            if (!(answer instanceof String)) {
                throw new IllegalStateException("no answer");
            }
            COMMANDS.set(number);
        } catch (OutOfMemoryError error) {
            EXHAUSTED.incrementAndGet();
        } catch (Exception exception) {
            throw new IllegalStateException(text, exception);
        }
    }
}
