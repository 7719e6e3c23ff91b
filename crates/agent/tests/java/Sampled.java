import java.util.ArrayList;
import java.util.List;

/** Objects of one class, as many as asked for, among others: a helper agent samples them. */
public final class Sampled {
    /** What is counted: 40 bytes each. */
    static final class Marked {
        long first;
        long second;
        long third;

        Marked(long first) {
            this.first = first;
            this.third = ~first;
        }
    }

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        int threads = 4;
        int count = arguments.number("count", 10_000);
        List<Thread> running = new ArrayList<>();
        for (int number = 0; number < threads; number++) {
            int first = number;
            Thread thread = new Thread(() -> make(first, count));
            running.add(thread);
            thread.start();
        }
        for (Thread thread : running) {
            thread.join();
        }
        System.out.println("done marked=" + (long) threads * count + " marked_bytes=" + 40L * threads * count);
    }

    private static void make(int number, int count) {
        Keeper keeper = new Keeper(number, 64 << 10, 4 << 10);
        Marked[] kept = new Marked[100];
        for (int at = 0; at < count; at++) {
            Marked before = kept[at % kept.length];
            if (before != null && (before.first != at - kept.length || before.third != ~before.first)) {
                Keeper.corrupt("an object that was sampled");
            }
            kept[at % kept.length] = new Marked(at);
            if (at % 50 == 0) {
                keeper.work(1);
            }
        }
        keeper.finish();
    }
}
