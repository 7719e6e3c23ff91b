import java.util.ArrayList;
import java.util.List;
import terrace.Counters;
import terrace.Terrace;

/** A program that uses {@code terrace.jar} by itself: {@code start=OPTIONS}, or what is there already. */
public final class Api {
    private static final int THREADS = 4;
    private static final String START = "start=";

    private static volatile boolean stop;

    public static void main(String[] args) throws Exception {
        Terrace terrace = args.length == 0 ? Terrace.current() : Terrace.start(args[0].substring(START.length()));
        if (!terrace.isActive()) {
            System.out.println("inactive: " + terrace.status().message());
            require(!terrace.on() && !terrace.off() && terrace.counters().levels().isEmpty(), "nothing to switch or to read");
            terrace.close();
            System.out.println("done");
            return;
        }
        if (terrace.status().state().equals("observing")) {
            observed(terrace);
            return;
        }
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < THREADS; number++) {
            Thread thread = new Thread(Api::allocate);
            thread.start();
            threads.add(thread);
        }
        System.out.println("began: " + terrace.status());
        rises(terrace, "refills");
        agrees(terrace.counters());
        require(terrace.off() && !terrace.status().isOn() && terrace.status().isActive(), "off");
        rises(terrace, "passed");
        require(terrace.on() && terrace.status().isOn(), "on");
        rises(terrace, "refills");
        System.gc();
        othersStay(terrace, args.length > 0);
        while (terrace.isActive()) {
            System.gc();
        }
        require(terrace.status().state().equals("withdrawn") && !terrace.on(), "withdrawn");
        startsOnce();
        System.gc();
        stop = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("done");
    }

    /** Who has not installed the buffers does not remove them by closing what he has. */
    private static void othersStay(Terrace terrace, boolean isOwn) throws InterruptedException {
        Terrace.current().close();
        Terrace refused = Terrace.start("core=64k");
        require(!refused.status().message().isEmpty(), "refused");
        refused.close();
        if (!isOwn) {
            terrace.close();
        }
        require(terrace.status().isOn(), "they stay: " + terrace.status());
        rises(terrace, "refills");
        if (isOwn) {
            terrace.close();
        } else {
            terrace.withdraw();
        }
        require(!terrace.status().isOn(), "off");
    }

    /** Of two that start it at once one does, and that one can be switched. */
    private static void startsOnce() throws InterruptedException {
        Thread other = new Thread(() -> Terrace.start("core=64k"));
        other.start();
        Terrace.start("core=32k");
        other.join();
        Terrace again = Terrace.current();
        require(again.status().isOn(), "again: " + again.status());
        rises(again, "refills");
        require(again.off(), "off");
        rises(again, "passed");
        require(again.on(), "on");
        rises(again, "refills");
    }

    /** Only counted: there is nothing to switch, and it goes at once. */
    private static void observed(Terrace terrace) throws InterruptedException {
        System.out.println("observed: " + terrace.status());
        Thread thread = new Thread(Api::allocate);
        thread.start();
        rises(terrace, "passed");
        require(!terrace.on() && !terrace.status().isOn() && !terrace.off() && terrace.isActive(), "nothing to switch");
        require(terrace.counters().total("passed_bytes") > terrace.counters().total("passed") * 16, "bytes");
        require(terrace.counters().total("refills") == 0, "refills");
        terrace.withdraw();
        require(terrace.status().state().equals("withdrawn"), "withdrawn");
        System.gc();
        stop = true;
        thread.join();
        System.out.println("done");
    }

    private static void allocate() {
        byte[][] kept = new byte[64][];
        for (int at = 0; !stop; at++) {
            kept[at % kept.length] = new byte[100 + at % 400];
        }
    }

    private static void rises(Terrace terrace, String counter) throws InterruptedException {
        long before = terrace.counters().total(counter);
        while (terrace.counters().total(counter) < before + 10) {
            Thread.sleep(1);
        }
    }

    private static void agrees(Counters counters) {
        for (Counters.Level level : counters.levels()) {
            long sum = 0;
            for (int domain = 0; domain < level.domains(); domain++) {
                sum += level.get(domain, "refill_bytes");
            }
            require(sum == level.total("refill_bytes") && sum >= level.total("refills") * 1024, "bytes of refills");
            require(level.bufferBytes() > 0, "the buffers' size");
        }
        require(counters.names().contains("waste_collection_bytes"), "names");
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
