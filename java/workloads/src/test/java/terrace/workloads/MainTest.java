package terrace.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MainTest {
    @TempDir
    Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String line) {
        List<String> arguments = line.isEmpty() ? List.of() : List.of(line.split(" "));
        return Main.run(Workloads.OWN, arguments, new PrintStream(out), new PrintStream(err));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''|choose alloc, sizes, javac, churn, threads",
                "nonsense|choose alloc, sizes, javac, churn, threads",
                "alloc --speed 3|choose from --threads",
                "alloc --threads|needs a value",
                "alloc --threads 2 --threads 2|leave out one",
                "alloc --threads two|integer from 1",
                "alloc --threads 0|integer from 1",
                "alloc --threads 99999999999|integer from 1",
                "alloc --size -1|integer from 0",
                "churn --size 8|integer from 24",
                "alloc --size 2x|or with k, m or g",
                "alloc --sizes 1,2|to the workloads sizes and churn",
                "churn --bytes 20g|to the workload sizes",
                "javac --bytes 20g|to the workload sizes",
                "alloc --calls file|to the workload javac",
                "sizes --sizes 100,|100000,64x20",
                "sizes --sizes 64x0|100000,64x20",
                "sizes --sizes 64x2000000|100000,64x20",
                "sizes --mixture 16|such as 16..200k",
                "sizes --mixture 200k..16|such as 16..200k",
                "sizes --mixture 0..16|such as 16..200k",
                "sizes --mixture 16..200k --size 64|leave out all but one",
                "sizes --bytes 20g --seconds 3|leave out all but one",
                "sizes --bytes 0|such as 20g",
                "alloc --operations -5|such as 20g",
                "alloc --seconds 0|number of seconds from",
                "alloc --seconds NaN|number of seconds from",
                "alloc --warmup -1|number of seconds from",
                "alloc --window external|needs --progress",
                "alloc --window open --progress file|write --window external",
                "alloc --window external --progress file --warmup 3|leave out all but one",
                "alloc --format xml|choose json or text",
                "alloc --sources x.jar|leave out --sources",
                "javac --size 3|leave out --size",
                "javac --sources no/such.jar|specify a jar of Java sources",
                "alloc --progress no/such/directory/file|directory that exists",
            })
    void badCommandLinesAreOneLineWithARemedy(String line, String remedy) {
        assertEquals(Main.USAGE, run(line));
        assertEquals("", out.toString());
        assertTrue(err.toString().startsWith("terrace-workloads: "), err.toString());
        assertTrue(err.toString().contains(remedy), err.toString());
        assertEquals(1, err.toString().lines().count(), err.toString());
    }

    @ParameterizedTest
    @CsvSource({"--help", "alloc --help", "list"})
    void helpAndListNameEveryWorkload(String line) {
        assertEquals(Main.PASSED, run(line));
        for (Workload workload : Workloads.OWN.all()) {
            assertTrue(out.toString().contains("  " + workload.name() + " "), out.toString());
        }
        assertEquals("", err.toString());
    }

    @Test
    void aRunPrintsJsonOnItsLastLine() {
        assertEquals(Main.PASSED, run("alloc --threads 1 --seconds 0.1 --warmup 0 --size 64"));
        String last = out.toString().lines().reduce("", (before, line) -> line);
        assertTrue(last.startsWith("{\"workload\":\"alloc\",\"parameters\":{\"threads\":1,"), last);
        assertTrue(last.endsWith("\"checks\":\"passed\"}"), last);
    }

    @Test
    void aRunOfFixedWorkEndsWhenItIsDone() {
        assertEquals(Main.PASSED, run("sizes --threads 2 --warmup 0 --bytes 50m --sizes 1000,64x20"));
        String last = out.toString().lines().reduce("", (before, line) -> line);
        assertTrue(last.contains("\"work\":52428800,") && last.contains("\"sizes\":\"1000,64x20\""), last);
        assertTrue(last.contains("\"bytes_per_collection\":"), last);
    }

    @Test
    void textIsForPeople() {
        assertEquals(Main.PASSED, run("churn --threads 1 --seconds 0.1 --warmup 0 --format text"));
        assertTrue(out.toString().contains("checks passed"), out.toString());
    }

    @Test
    void aRuntimeWithoutACompilerIsNamedWithItsRemedy() throws Exception {
        Path classes = Path.of(Main.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Path error = directory.resolve("error");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--limit-modules", "java.base,java.management,jdk.management",
                        "-cp", classes.toString(), "terrace.workloads.Main", "javac", "--sources", "any.jar")
                .redirectError(error.toFile())
                .start();
        assertEquals(Main.USAGE, process.waitFor());
        String message = Files.readString(error);
        assertTrue(message.contains("jdk.compiler") && message.contains("the java of a JDK"), message);
        assertEquals(1, message.lines().count(), message);
    }
}
