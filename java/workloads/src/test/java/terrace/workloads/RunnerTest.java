package terrace.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class RunnerTest {
    @TempDir
    Path directory;

    private static Parameters parameters(int threads, double seconds, int size) {
        return new Parameters(threads, seconds, 0.1, size, null, null);
    }

    @Test
    void allocCountsOnlyTheWindow() throws Exception {
        Result result = Runner.run(new AllocWorkload(), parameters(2, 0.3, 16));
        assertTrue(result.operations() > 0);
        assertTrue(result.seconds() >= 0.3, "window of " + result.seconds());
        double bytes = (double) result.allocatedBytes() / result.operations();
        // The two sums are not read at exactly one instant; 12 to 24 bytes are headers and alignment.
        assertTrue(bytes > 20 && bytes < 60, bytes + " bytes an operation");
    }

    @Test
    void churnChecksEveryTask() throws Exception {
        Result result = Runner.run(new ChurnWorkload(), parameters(2, 0.3, 4096));
        assertTrue(result.toJson().contains("\"checks\":\"passed\""), result.toJson());
    }

    @Test
    void churnTakesItsTasksInTurn() throws Exception {
        Lengths lengths = Lengths.list("48x3,2m");
        Result result = Runner.run(
                new ChurnWorkload(), new Parameters(1, 10, 0, 4096, null, null, lengths, 40, null, false));
        assertTrue(result.operations() >= 40, "tasks: " + result.operations());
        assertTrue(result.toJson().contains("\"sizes\":\"48x3,2m\""), result.toJson());
    }

    @Test
    void threadsRunsSleepersForItsTime() throws Exception {
        Result result = Runner.run(new ThreadsWorkload(), parameters(200, 0.6, 1024));
        assertTrue(result.seconds() >= 0.6, "window of " + result.seconds());
    }

    @Test
    void theProgressFileEndsAsFinished() throws Exception {
        Path file = directory.resolve("progress");
        Runner.run(new AllocWorkload(), new Parameters(1, 0.1, 0, 16, null, file));
        java.nio.ByteBuffer bytes = java.nio.ByteBuffer.wrap(java.nio.file.Files.readAllBytes(file))
                .order(java.nio.ByteOrder.nativeOrder());
        assertEquals(4, bytes.getLong(8));
        assertTrue(bytes.getLong(128) > 0);
    }

    @Test
    void theEndCanBeAskedForFromOutside() throws Exception {
        Path file = directory.resolve("asked");
        try (var channel = java.nio.channels.FileChannel.open(
                file,
                java.nio.file.StandardOpenOption.CREATE_NEW,
                java.nio.file.StandardOpenOption.READ,
                java.nio.file.StandardOpenOption.WRITE)) {
            var header = channel.map(java.nio.channels.FileChannel.MapMode.READ_WRITE, 0, 128);
            header.order(java.nio.ByteOrder.nativeOrder());
            Thread asker = new Thread(() -> {
                while (header.getLong(8) < Progress.Phase.MEASURING.ordinal()) {
                    Thread.onSpinWait();
                }
                // Something has to be finished within what is measured, however busy the machine is.
                long first = operations(channel);
                while (operations(channel) == first) {
                    Thread.onSpinWait();
                }
                header.putLong(32, 1);
            });
            asker.start();
            Result result = Runner.run(new AllocWorkload(), new Parameters(1, 3600, 0, 16, null, file));
            asker.join();
            assertTrue(result.seconds() < 3600);
        }
    }

    @Test
    void aReaderOpensAndClosesTheWindow() throws Exception {
        Path file = directory.resolve("external");
        try (var channel = java.nio.channels.FileChannel.open(
                file,
                java.nio.file.StandardOpenOption.CREATE_NEW,
                java.nio.file.StandardOpenOption.READ,
                java.nio.file.StandardOpenOption.WRITE)) {
            var header = channel.map(java.nio.channels.FileChannel.MapMode.READ_WRITE, 0, 128);
            header.order(java.nio.ByteOrder.nativeOrder());
            long[] counted = new long[4];
            long[] unasked = new long[] {-1};
            Thread reader = new Thread(() -> {
                await(channel, Progress.Phase.READY);
                unasked[0] = operations(channel);
                header.putLong(64, 1);
                awaitWork(channel, Progress.Phase.WARMING_UP);
                counted[0] = operations(channel);
                header.putLong(48, 1);
                awaitWork(channel, Progress.Phase.MEASURING);
                counted[1] = operations(channel);
                header.putLong(32, 1);
                // It works on until it may stop.
                awaitWork(channel, Progress.Phase.FINISHED);
                counted[2] = operations(channel);
                header.putLong(56, 1);
            });
            reader.start();
            Result result = Runner.run(
                    new AllocWorkload(), new Parameters(1, 0, 0, 16, null, file, null, 0, null, true));
            reader.join();
            counted[3] = operations(channel);
            assertEquals(0, unasked[0], "nobody had asked for work");
            assertTrue(counted[0] < counted[1] && counted[1] < counted[2], java.util.Arrays.toString(counted));
            assertTrue(0 < result.operations() && result.operations() < counted[3], result.toJson());
            assertTrue(result.toJson().contains("\"window\":\"external\""), result.toJson());
        }
    }

    /** Until it is in this phase, and something is done in it. */
    private static void awaitWork(java.nio.channels.FileChannel channel, Progress.Phase phase) {
        await(channel, phase);
        long first = operations(channel);
        while (operations(channel) == first) {
            Thread.onSpinWait();
        }
    }

    private static void await(java.nio.channels.FileChannel channel, Progress.Phase phase) {
        while (word(channel, 8) != phase.ordinal()) {
            Thread.onSpinWait();
        }
    }

    /** The first worker's. */
    private static long operations(java.nio.channels.FileChannel channel) {
        return word(channel, 128);
    }

    private static long word(java.nio.channels.FileChannel channel, int at) {
        var word = java.nio.ByteBuffer.allocate(Long.BYTES).order(java.nio.ByteOrder.nativeOrder());
        try {
            return channel.read(word, at) == Long.BYTES ? word.getLong(0) : 0;
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void aWorkersFailureEndsTheRunEarly() {
        for (boolean inBegin : new boolean[] {true, false}) {
            Exception e = assertThrows(
                    CheckException.class, () -> Runner.run(new Failing(inBegin), parameters(3, 3600, 1)));
            assertEquals("worker 1", e.getMessage());
        }
    }

    /** Worker 1 fails, the others have nothing to do. */
    private record Failing(boolean inBegin) implements TestWorkload {
        @Override
        public Prepared prepare(Parameters parameters) {
            return new Prepared() {
                @Override
                public String operation() {
                    return "nothing done";
                }

                @Override
                public Worker worker(int index, Tally tally) {
                    return new FailingWorker(index == 1, inBegin);
                }
            };
        }
    }

    private record FailingWorker(boolean fails, boolean inBegin) implements Worker {
        @Override
        public void begin() throws CheckException {
            if (fails && inBegin) {
                throw new CheckException("worker 1");
            }
        }

        @Override
        public void batch() throws Exception {
            if (fails) {
                throw new CheckException("worker 1");
            }
            Thread.sleep(1);
        }
    }

    @Test
    void resultsAreOneLineOfJson() {
        Snapshot from = new Snapshot(0, 10, 0, -1, 1, 5);
        Snapshot to = new Snapshot(2_000_000_000L, 30, 1_500_000_000L, -1, 4, 25);
        Result result = new Result("w", java.util.Map.of("path", "a\"b\\\n"), "thing done", from, to, java.util.Map.of());
        assertEquals(
                "{\"workload\":\"w\",\"parameters\":{\"path\":\"a\\\"b\\\\\\u000a\"},\"operation\":\"thing done\","
                        + "\"operations\":20,\"seconds\":2.0,\"ended_nanos\":2000000000,"
                        + "\"operations_per_second\":10.0,\"cpu_seconds\":1.5,"
                        + "\"allocated_bytes\":null,\"collections\":3,\"collection_seconds\":0.02,\"checks\":\"passed\"}",
                result.toJson());
        assertFalse(result.toText().isBlank());
    }
}
