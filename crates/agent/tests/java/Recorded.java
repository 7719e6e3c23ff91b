import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/** Allocates beneath a recording of every allocation that HotSpot's slow path sees, and tells what was recorded. */
public final class Recorded {
    private static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int THREADS = 8;

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        int rounds = arguments.number("rounds", 3000);
        CountDownLatch begin = new CountDownLatch(1);
        CountDownLatch worked = new CountDownLatch(THREADS);
        CountDownLatch end = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < THREADS; number++) {
            int first = number;
            Thread thread = new Thread(() -> {
                try {
                    begin.await();
                    Keeper keeper = new Keeper(first, 64 << 10, 60 << 10);
                    keeper.work(rounds);
                    keeper.finish();
                    worked.countDown();
                    // Its allocated bytes are asked for while it is there.
                    end.await();
                } catch (InterruptedException interrupted) {
                    Keeper.corrupt("interrupted");
                }
            });
            threads.add(thread);
            thread.start();
        }
        // What a recording needs to be made is there before the one that counts.
        try (Recording first = recording()) {
            first.start();
            first.stop();
        }
        try (Recording recording = recording()) {
            Marks.at("before");
            recording.start();
            Marks.at("started");
            long excluded = excluded();
            begin.countDown();
            worked.await();
            for (int number = 0; number < arguments.number("collections", 5); number++) {
                System.gc();
            }
            excluded = excluded() - excluded;
            Marks.at("worked");
            recording.stop();
            Marks.at("stopped");
            Path file = Path.of("counted.jfr");
            recording.dump(file);
            tell(file, threads, excluded);
        }
        end.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static Recording recording() {
        Recording recording = new Recording();
        recording.setToDisk(true);
        recording.enable("jdk.ObjectAllocationInNewTLAB").withoutStackTrace();
        recording.enable("jdk.ObjectAllocationOutsideTLAB").withoutStackTrace();
        recording.enable("jdk.ObjectAllocationSample").withoutStackTrace().with("throttle", "off");
        recording.enable("jdk.GCPhasePause").withoutThreshold();
        recording.enable("jdk.DataLoss");
        return recording;
    }

    /** Bytes that the recorder's own threads have allocated: nothing that they do is recorded. */
    private static long excluded() {
        long bytes = 0;
        for (java.lang.management.ThreadInfo info : BEAN.getThreadInfo(BEAN.getAllThreadIds())) {
            if (info != null && info.getThreadName().startsWith("JFR")) {
                bytes += BEAN.getThreadAllocatedBytes(info.getThreadId());
            }
        }
        return bytes;
    }

    private static long recorders() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().startsWith("JFR")).count();
    }

    private static void tell(Path file, List<Thread> threads, long excluded) throws Exception {
        Map<String, Long> events = new HashMap<>();
        Map<Long, Long> weights = new HashMap<>();
        long tlabBytes = 0;
        long outsideBytes = 0;
        try (RecordingFile recorded = new RecordingFile(file)) {
            while (recorded.hasMoreEvents()) {
                RecordedEvent event = recorded.readEvent();
                String name = event.getEventType().getName();
                events.merge(name, 1L, Long::sum);
                switch (name) {
                    case "jdk.ObjectAllocationInNewTLAB": tlabBytes += event.getLong("tlabSize"); break;
                    case "jdk.ObjectAllocationOutsideTLAB": outsideBytes += event.getLong("allocationSize"); break;
                    case "jdk.ObjectAllocationSample":
                        if (event.getThread() != null) {
                            weights.merge(event.getThread().getJavaThreadId(), event.getLong("weight"), Long::sum);
                        }
                        break;
                    default:
                }
            }
        }
        // What a thread has allocated since its last sample is in no weight: less than its thread buffer.
        long unsampled = 0;
        for (Thread thread : threads) {
            long allocated = BEAN.getThreadAllocatedBytes(thread.getId());
            unsampled = Math.max(unsampled, Math.abs(allocated - weights.getOrDefault(thread.getId(), 0L)));
        }
        System.out.println("done tlabs=" + events.getOrDefault("jdk.ObjectAllocationInNewTLAB", 0L)
            + " tlab_bytes=" + tlabBytes
            + " outside=" + events.getOrDefault("jdk.ObjectAllocationOutsideTLAB", 0L)
            + " outside_bytes=" + outsideBytes
            + " pauses=" + events.getOrDefault("jdk.GCPhasePause", 0L)
            + " lost=" + events.getOrDefault("jdk.DataLoss", 0L)
            + " unsampled=" + unsampled + " excluded=" + excluded + " recorders=" + recorders());
    }
}
