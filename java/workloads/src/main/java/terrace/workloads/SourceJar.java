package terrace.workloads;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** Reads the sources that the {@code javac} workload compiles. */
final class SourceJar {
    private SourceJar() {}

    /** All source files of a jar, in the jar's order. */
    static List<SourceFile> read(Path jar) throws UsageException {
        List<SourceFile> sources = new ArrayList<>();
        try (ZipFile zip = new ZipFile(jar.toFile())) {
            for (ZipEntry entry : Collections.list(zip.entries())) {
                if (entry.getName().endsWith(".java")) {
                    byte[] bytes = zip.getInputStream(entry).readAllBytes();
                    sources.add(new SourceFile(entry.getName(), new String(bytes, StandardCharsets.UTF_8)));
                }
            }
        } catch (IOException e) {
            throw new UsageException("--sources " + jar + " cannot be read (" + e.getClass().getSimpleName()
                    + "): specify a jar of Java sources, such as commons-lang3-3.12.0-sources.jar");
        }
        if (sources.isEmpty()) {
            throw new UsageException("--sources " + jar
                    + " contains no .java file: specify a jar of Java sources, not of classes");
        }
        return sources;
    }
}
