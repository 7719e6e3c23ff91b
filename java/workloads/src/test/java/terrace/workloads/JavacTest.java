package terrace.workloads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
        assertEquals(3L, prepared.facts().get("source_lines"));
        assertEquals(5, prepared.facts().get("class_files"));
        long bytes = (Long) prepared.facts().get("class_bytes");
        Tally tally = new Tally(Progress.inMemory(1), 0);
        Worker worker = prepared.worker(0, tally);
        for (int batch = 0; batch < 9; batch++) {
            worker.batch();
        }
        worker.end();
        assertEquals(3 * bytes, tally.total(), "three rounds of three parts");
    }

    @Test
    void callsOfAPartHaveTheSameStepsAndTheirTime() throws Exception {
        Path jar = jar(Map.of(
                "a/A.java", "package a; public class A { b.B b; class Inner {} Runnable r = () -> {}; }",
                "b/B.java", "package b; public class B { a.A a = new a.A(); }"));
        Path file = directory.resolve("calls");
        Workload.Prepared prepared =
                new JavacWorkload().prepare(new Parameters(1, 1, 0, -1, jar, null, null, 0, file, false));
        Worker worker = prepared.worker(0, new Tally(Progress.inMemory(1), 0));
        for (int batch = 0; batch < 4; batch++) {
            worker.batch();
        }
        worker.end();
        LongBuffer words = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.nativeOrder()).asLongBuffer();
        int kinds = (int) words.get(3);
        List<List<Integer>> steps = new ArrayList<>(List.of(new ArrayList<>()));
        long cpu = 0;
        for (int record = 0; record < words.get(1); record++) {
            int at = 16 + 4 * record;
            int kind = (int) words.get(at) - 1;
            assertTrue(words.get(at + 1) <= words.get(at + 2));
            if (kind < kinds) {
                assertEquals(cpu, words.get(at + 3), "the steps take what the call takes");
                steps.add(new ArrayList<>());
                cpu = 0;
            } else {
                steps.get(steps.size() - 1).add(kind);
                cpu += words.get(at + 3);
            }
        }
        assertEquals(5, steps.size(), "four calls");
        assertEquals(steps.get(0), steps.get(2));
        assertEquals(steps.get(1), steps.get(3));
        assertTrue(steps.get(0).size() > 4, () -> "parse, enter, analyze, generate: " + steps.get(0));
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
    void partsAreAboutEquallyHeavyAndHoldEverySourceOnce() throws Exception {
        List<SourceFile> sources = new ArrayList<>();
        List<ClassFile> classes = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            SourceFile source = new SourceFile("A" + i + ".java", "");
            ClassFile file = new ClassFile("A" + i, source, length -> {});
            try (OutputStream out = file.openOutputStream()) {
                out.write(new byte[100 + i]);
            }
            sources.add(source);
            classes.add(file);
        }
        List<List<SourceFile>> parts = Parts.deal(sources, classes, 10);
        assertEquals(10, parts.size());
        Set<SourceFile> all = new HashSet<>();
        for (List<SourceFile> part : parts) {
            assertEquals(5, part.size());
            all.addAll(part);
        }
        assertEquals(new HashSet<>(sources), all);
        assertEquals(3, Parts.deal(sources.subList(0, 3), classes, 10).size());
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
