package terrace.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JavacTest {
    @TempDir
    Path directory;

    private Path jar(Map<String, String> files) throws Exception {
        Path jar = directory.resolve("sources.jar");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(jar))) {
            for (Map.Entry<String, String> file : new TreeMap<>(files).entrySet()) {
                zip.putNextEntry(new ZipEntry(file.getKey()));
                zip.write(file.getValue().getBytes("UTF-8"));
            }
        }
        return jar;
    }

    private static Parameters parameters(Path jar) {
        return new Parameters(1, 1, 0, -1, jar, null);
    }

    @Test
    void aRoundCompilesEverythingAndGivesTheSameBytes() throws Exception {
        Path jar = jar(Map.of(
                "a/A.java", "package a; public class A { b.B b; class Inner {} Runnable r = () -> {}; }",
                "b/B.java", "package b; public class B { a.A a = new a.A(); }",
                "Top.java", "class Top { Object o = new Object() {}; }",
                "readme.txt", "no source"));
        Workload.Prepared prepared = new JavacWorkload().prepare(parameters(jar));
        assertEquals(3, prepared.facts().get("source_files"));
        assertEquals(5, prepared.facts().get("class_files"));
        Tally tally = new Tally(Progress.inMemory(1), 0);
        Worker worker = prepared.worker(0, tally);
        int batches = 0;
        while (tally.total() < 15) {
            worker.batch();
            batches++;
        }
        worker.end();
        assertEquals(15, tally.total(), "three rounds of five classes in " + batches + " batches");
    }

    @Test
    void sourcesThatDoNotCompileAreNamedWithTheirError() throws Exception {
        Path jar = jar(Map.of("A.java", "class A { Missing m; }"));
        UsageException e = assertThrows(UsageException.class, () -> new JavacWorkload().prepare(parameters(jar)));
        assertTrue(e.getMessage().contains("A.java:1: "), e.getMessage());
        assertTrue(e.getMessage().contains("--sources"), e.getMessage());
    }

    @Test
    void jarsWithoutSourcesAndNoJarsAreRefused() throws Exception {
        Path empty = jar(Map.of("readme.txt", "no source"));
        assertThrows(UsageException.class, () -> SourceJar.read(empty));
        assertThrows(UsageException.class, () -> SourceJar.read(directory.resolve("missing.jar")));
        Path text = Files.writeString(directory.resolve("text.jar"), "no jar");
        assertThrows(UsageException.class, () -> SourceJar.read(text));
    }

    @Test
    void partsKeepEveryFileInOrder() {
        List<SourceFile> sources = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            sources.add(new SourceFile("A" + i + ".java", "x".repeat(i)));
        }
        List<List<SourceFile>> parts = SourceJar.split(sources, 7);
        List<SourceFile> joined = new ArrayList<>();
        parts.forEach(joined::addAll);
        assertEquals(sources, joined);
        assertEquals(7, parts.size());
    }

    @Test
    void otherBytesAndMissingClassesAreNoticed() throws Exception {
        Baseline baseline = new Baseline(2, 3);
        baseline.check(0, new TreeMap<>(Map.of("A", 1L, "B", 2L)));
        baseline.check(0, new TreeMap<>(Map.of("A", 1L, "B", 2L)));
        assertThrows(CheckException.class, () -> baseline.check(0, new TreeMap<>(Map.of("A", 1L, "B", 3L))));
        assertThrows(CheckException.class, () -> baseline.check(0, new TreeMap<>(Map.of("A", 1L, "C", 2L))));
        assertThrows(CheckException.class, () -> baseline.check(0, new TreeMap<>(Map.of("A", 1L))));
        assertThrows(CheckException.class, () -> baseline.check(1, new TreeMap<>(Map.of())), "a round of 2, not 3");
    }
}
