package terrace.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProfilerTest {
    @TempDir
    Path directory;

    private ProfileOptions options(Workload workload, Path dumps) {
        Parameters parameters = new Parameters(1, 0, 0, -1, null, directory.resolve("progress"));
        return new ProfileOptions(workload, parameters, 2, 3, dumps);
    }

    @Test
    void everyRoundHasAllItsBatches() throws Exception {
        ThreeBatches workload = new ThreeBatches();
        String json = Profiler.run(options(workload, null));
        assertEquals(15, workload.batches, "2 rounds before 3 that count");
        assertEquals(3, rounds(json.split("\"rounds\":")[1]), json);
        assertEquals(2, rounds(json.split("\"rounds\":")[0]), json);
        byte[] progress = Files.readAllBytes(directory.resolve("progress"));
        assertEquals(5, progress[Progress.STRIDE], "rounds in the progress file");
    }

    private static long rounds(String json) {
        return json.split("\"cpu_ns\":", -1).length - 1;
    }

    @Test
    void dumpsAreWrittenAroundTheRounds() throws Exception {
        Profiler.run(options(new ThreeBatches(), directory));
        assertTrue(Files.size(directory.resolve(Profiler.BEFORE)) > 0);
        assertTrue(Files.size(directory.resolve(Profiler.AFTER)) > 0);
        // They are not written over.
        UsageException e = assertThrows(
                UsageException.class, () -> Profiler.run(options(new ThreeBatches(), directory)));
        assertTrue(e.getMessage().contains("without older dumps"), e.getMessage());
    }

    @Test
    void aCollectionBetweenTheDumpsIsNoticed() {
        ThreeBatches collecting = new ThreeBatches();
        collecting.collects = true;
        assertThrows(CheckException.class, () -> Profiler.run(options(collecting, directory)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|write profile javac",
                "nonsense|choose alloc, sizes, javac",
                "alloc|profile javac",
                "alloc --sources x.jar|leave out --sources",
                "javac --threads 2|choose from --warmup-rounds",
                "javac --sources x.jar --rounds 0|integer from 1",
            })
    void badCommandLinesHaveARemedy(String line, String remedy) {
        List<String> arguments = line.isEmpty() ? List.of() : List.of(line.split(" "));
        UsageException e =
                assertThrows(UsageException.class, () -> Profiler.run(ProfileOptions.parse(arguments)));
        assertTrue(e.getMessage().contains(remedy), e.getMessage());
    }

    /** A round of it has three batches. */
    private static final class ThreeBatches implements TestWorkload {
        private int batches;
        private boolean collects;

        @Override
        public Prepared prepare(Parameters parameters) {
            return new Prepared() {
                @Override
                public String operation() {
                    return "batch done";
                }

                @Override
                public int batchesInRound() {
                    return 3;
                }

                @Override
                public Worker worker(int index, Tally tally) {
                    return ThreeBatches.this::batch;
                }
            };
        }

        private void batch() {
            batches++;
            if (collects) {
                System.gc();
            }
        }
    }
}
