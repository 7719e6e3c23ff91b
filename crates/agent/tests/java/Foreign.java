import java.util.ArrayList;
import java.util.List;

/** Native threads attach themselves, allocate through JNI, check what they have, and detach: thousands of times, beside a load. */
public final class Foreign {
    /**
     * Starts native threads, each of which attaches and detaches itself so many times, and each time makes and checks so many objects.
     *
     * @return the number of objects that were checked; negative if one of them was not what it had been
     */
    static native long attach(int threads, int times, int objects);

    /** Runs the work beneath a native frame. */
    static native void call(Runnable work);

    static void load(Arguments arguments) {
        System.load(arguments.text("library", ""));
    }

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        load(arguments);
        Evidence evidence = new Evidence(arguments);
        long most = arguments.bytes("most", "1000000m") / 4;
        List<Thread> running = new ArrayList<>();
        for (int number = 0; number < 4; number++) {
            Keeper keeper = new Keeper(number, 256 << 10, 8 << 10);
            Thread thread = new Thread(() -> {
                while (!Keeper.stop && keeper.bytes < most) {
                    keeper.work(200);
                    Thread.yield();
                }
                keeper.finish();
            });
            running.add(thread);
            thread.start();
        }
        int attached = 0;
        int objects = arguments.number("objects", 20);
        long checked = 0;
        while (attached < arguments.number("attached", 2000) || !evidence.isThere()) {
            // The same thread again and again, and threads that come once.
            checked += count(8, 50, objects) + count(100, 1, objects);
            attached += 500;
        }
        Keeper.stop = true;
        for (Thread thread : running) {
            thread.join();
        }
        System.out.println("done attached=" + attached + " checked=" + checked);
    }

    private static long count(int threads, int times, int objects) {
        long checked = attach(threads, times, objects);
        if (checked != (long) threads * times * objects) {
            Keeper.corrupt("native threads found " + checked);
        }
        return checked;
    }
}
