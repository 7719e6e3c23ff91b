import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Starts child processes while other threads allocate. */
public final class Children {
    private static final AtomicInteger CHILDREN = new AtomicInteger();

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        Evidence evidence = new Evidence(arguments);
        long most = arguments.bytes("most", "1000000m") / 8;
        List<Thread> running = new ArrayList<>();
        for (int number = 0; number < 11; number++) {
            int first = number;
            Thread thread = new Thread(() -> {
                Keeper keeper = new Keeper(first, 256 << 10, 8 << 10);
                while (!Keeper.stop && keeper.bytes < most) {
                    keeper.work(300);
                    if (first % 4 == 3) {
                        child(first);
                    } else {
                        // Busy threads would keep the children waiting.
                        nap();
                    }
                }
                keeper.finish();
            });
            running.add(thread);
            thread.start();
        }
        evidence.await(() -> CHILDREN.get() >= arguments.number("children", 10));
        Keeper.stop = true;
        for (Thread thread : running) {
            thread.join();
        }
        System.out.println("done children=" + CHILDREN);
    }

    private static void nap() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException interrupted) {
            Keeper.stop = true;
        }
    }

    private static void child(int number) {
        String text = "child " + number + " of " + ProcessHandle.current().pid();
        try {
            Process process = new ProcessBuilder("echo", text).redirectErrorStream(true).start();
            String answer = new String(process.getInputStream().readAllBytes()).trim();
            int code = process.waitFor();
            if (code != 0 || !answer.equals(text)) {
                Keeper.corrupt("a child ended with " + code + " and said " + answer);
            }
            CHILDREN.incrementAndGet();
        } catch (Exception exception) {
            Keeper.corrupt(exception.toString());
        }
    }
}
