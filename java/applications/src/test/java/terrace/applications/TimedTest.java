package terrace.applications;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import terrace.workloads.CheckException;
import terrace.workloads.Help;
import terrace.workloads.Parameters;
import terrace.workloads.Tally;
import terrace.workloads.Worker;
import terrace.workloads.Workload;
import terrace.workloads.Workloads;

class TimedTest {
    private static final long SLEEP_MILLIS = 20;

    /** Operations that take 20 ms; the end is right or not. */
    private record Sleeping(boolean right, AtomicLong batches) implements Workload {
        @Override
        public String name() {
            return "sleeping";
        }

        @Override
        public String summary() {
            return "sleeps";
        }

        @Override
        public int defaultThreads() {
            return 2;
        }

        @Override
        public Prepared prepare(Parameters parameters) {
            return new Prepared() {
                @Override
                public String operation() {
                    return "sleep";
                }

                @Override
                public Map<String, Object> findings() throws CheckException {
                    if (!right) {
                        throw new CheckException("slept badly");
                    }
                    return Map.of("own", 7);
                }

                @Override
                public Worker worker(int index, Tally tally) {
                    return () -> {
                        batches.incrementAndGet();
                        Thread.sleep(SLEEP_MILLIS);
                        tally.add(1);
                    };
                }
            };
        }
    }

    private static String run(boolean right, int code, AtomicLong batches) {
        Workload sleeping = new Timed(new Sleeping(right, batches));
        Workloads programs = new Workloads("programs", new Help("", ""), List.of(sleeping));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        List<String> line = List.of("sleeping", "--seconds", "0.5", "--warmup", "0.2");
        assertEquals(code, terrace.workloads.Main.run(programs, line, new PrintStream(out), new PrintStream(out)));
        return out.toString();
    }

    /** Operations during each of which another stretch of time begins. */
    private record Flipping(Path progress) implements Workload {
        /** Where the file of the progress has the stretch. */
        private static final int STRETCH = 40;

        @Override
        public String name() {
            return "flipping";
        }

        @Override
        public String summary() {
            return "flips";
        }

        @Override
        public int defaultThreads() {
            return 1;
        }

        @Override
        public Prepared prepare(Parameters parameters) {
            return new Prepared() {
                @Override
                public String operation() {
                    return "flip";
                }

                @Override
                public Worker worker(int index, Tally tally) {
                    return () -> {
                        ByteBuffer next = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
                        next.putLong(0, 1 + tally.total() % 2);
                        try (FileChannel file = FileChannel.open(progress, StandardOpenOption.WRITE)) {
                            file.write(next, STRETCH);
                        }
                        Thread.sleep(1);
                        tally.add(1);
                    };
                }
            };
        }
    }

    @Test
    void anOperationBelongsToTheStretchInWhichItBegan(@TempDir Path folder) {
        Path progress = folder.resolve("progress");
        Workloads programs =
                new Workloads("programs", new Help("", ""), List.of(new Timed(new Flipping(progress))));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream print = new PrintStream(out);
        List<String> line = List.of("flipping", "--seconds", "0.5", "--warmup", "0", "--progress", progress.toString());
        assertEquals(0, terrace.workloads.Main.run(programs, line, print, print), out.toString());
        assertTrue(out.toString().contains("\"stretch\":1,") && out.toString().contains("\"stretch\":2,"), out.toString());
    }

    private static double number(String json, String field) {
        Matcher matcher = Pattern.compile("\"" + field + "\":([0-9.]+)").matcher(json);
        assertTrue(matcher.find(), json);
        return Double.parseDouble(matcher.group(1));
    }

    @Test
    void timesAreThoseOfTheMeasuredOperations() {
        AtomicLong batches = new AtomicLong();
        String json = run(true, 0, batches);
        // Each thread may be within an operation when the window opens, and when it closes. On a busy machine it opens for times before it does
        // for operations, and closes after.
        double timed = number(json, "timed_operations");
        assertTrue(timed >= number(json, "operations") - 4 && timed <= batches.get(), json);
        double median = number(json, "p50_ms");
        assertTrue(median >= SLEEP_MILLIS && median <= number(json, "p999_ms"), json);
        assertTrue(number(json, "peak_resident_bytes") > 1 << 20 && number(json, "own") == 7, json);
    }

    @Test
    void aWrongEndFails() {
        assertTrue(run(false, 1, new AtomicLong()).contains("check failed: slept badly"));
    }
}
