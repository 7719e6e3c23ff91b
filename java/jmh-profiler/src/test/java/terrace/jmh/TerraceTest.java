package terrace.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openjdk.jmh.profile.ProfilerException;

class TerraceTest {
    @TempDir
    Path root;

    @BeforeEach
    void realPath() throws Exception {
        root = root.toRealPath();
    }

    private Path make(String name) throws Exception {
        Path path = root.resolve(name);
        Files.createDirectories(path.getParent());
        Files.writeString(path, "");
        assertTrue(path.toFile().setExecutable(true));
        return path;
    }

    /** Where the files of an archive, of the Debian package and of a build are. */
    @ParameterizedTest
    @CsvSource({
        "terrace-0.1.0/bin, terrace-0.1.0/lib",
        "usr/bin, usr/lib/terrace",
        "target/release, target/release",
    })
    void theCommandOnThePathHasItsLibraryBesideIt(String bin, String lib) throws Exception {
        Path command = make(bin + "/terrace");
        Path library = make(lib + "/libterrace.so");
        Path link = Files.createDirectories(root.resolve("links")).resolve("terrace");
        Files.createSymbolicLink(link, command);
        Map<String, String> path = Map.of("PATH", "/nowhere:" + link.getParent());
        assertEquals(library, Terrace.find("", path).library());
        // The library alone leads to the command.
        assertEquals(library, Terrace.find(library.toString(), Map.of()).library());
        assertEquals(library, Terrace.find("", Map.of("TERRACE_LIBRARY", library.toString())).library());
        assertEquals(library, Terrace.find("", Map.of("TERRACE_HOME", root.resolve(lib).toString())).library());
    }

    @Test
    void whatIsAskedForGoesBeforeWhatIsInstalled() throws Exception {
        make("bin/terrace");
        make("lib/libterrace.so");
        Path other = make("other/libterrace.so");
        Map<String, String> environment = Map.of("PATH", root.resolve("bin").toString(), "TERRACE_LIBRARY", "/no/such");
        assertEquals(other, Terrace.find(other.toString(), environment).library());
    }

    @Test
    void whatIsMissingIsOneLineWithTheRemedy() throws Exception {
        Path alone = make("alone/libterrace.so");
        make("a=b/terrace");
        Path unloadable = make("a=b/libterrace.so");
        assertRefused("", Map.of(), "put the command 'terrace' on PATH");
        assertRefused("/no/such/libterrace.so", Map.of(), "library=PATH or TERRACE_LIBRARY");
        assertRefused("", Map.of("TERRACE_LIBRARY", root.toString()), "library=PATH or TERRACE_LIBRARY");
        assertRefused(alone.toString(), Map.of(), "put it there, in ../bin, or on PATH");
        assertRefused(unloadable.toString(), Map.of(), "move it");
    }

    private static void assertRefused(String asked, Map<String, String> environment, String remedy) {
        String line = assertThrows(ProfilerException.class, () -> Terrace.find(asked, environment)).getMessage();
        assertTrue(line.startsWith("terrace: ") && line.contains(remedy) && line.lines().count() == 1, line);
    }
}
