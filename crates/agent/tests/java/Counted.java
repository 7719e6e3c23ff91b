import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** A load, then collections, then heap walks, as many as asked for; after each of them the program stands still to be looked at. */
public final class Counted {
    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("com.sun.management:type=DiagnosticCommand");
        Evidence evidence = new Evidence(arguments);
        long most = arguments.bytes("most", "1000000m") / 8;
        List<Thread> running = new ArrayList<>();
        for (int number = 0; number < 8; number++) {
            // Large ones among them: they are allocated outside of any thread buffer.
            Keeper keeper = new Keeper(number, 64 << 10, 60 << 10);
            Thread thread = new Thread(() -> {
                while (!Keeper.stop && keeper.bytes < most) {
                    keeper.work(500);
                }
                keeper.finish();
            });
            running.add(thread);
            thread.start();
        }
        evidence.await(() -> true);
        Keeper.stop = true;
        for (Thread thread : running) {
            thread.join();
        }
        walk(server, name);
        Marks.at("loaded");
        for (int number = 0; number < arguments.number("collections", 7); number++) {
            System.gc();
        }
        Marks.at("collected");
        for (int number = 0; number < arguments.number("walks", 11); number++) {
            walk(server, name);
        }
        Marks.at("walked");
        System.out.println("done");
    }

    /** All objects: for the live ones alone HotSpot would collect first. */
    private static void walk(MBeanServer server, ObjectName name) throws Exception {
        Object[] arguments = {new String[] {"-all"}};
        server.invoke(name, "gcClassHistogram", arguments, new String[] {String[].class.getName()});
    }
}
