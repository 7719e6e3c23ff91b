package terrace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrivateFolderTest {
    private static final byte[] BYTES = {1, 2, 3};
    private static final Packed LIBRARY = Packed.of("d1", BYTES);

    @TempDir
    Path folder;

    @Test
    void aCopyIsMadeOnceAndHeldToItsBytes() throws IOException {
        Path cache = folder.resolve("a/b");
        Path file = PrivateFolder.keep(cache, LIBRARY, "it.so");
        assertEquals(cache.toRealPath().resolve("d1/it.so"), file);
        assertArrayEquals(BYTES, Files.readAllBytes(file));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())));
        FileTime old = FileTime.fromMillis(1_000_000);
        Files.setLastModifiedTime(file, old);
        assertEquals(file, PrivateFolder.keep(cache, LIBRARY, "it.so"));
        assertEquals(old, Files.getLastModifiedTime(file), "the same file");
        Files.write(file, new byte[] {1, 2, 4});
        PrivateFolder.keep(cache, LIBRARY, "it.so");
        assertArrayEquals(BYTES, Files.readAllBytes(file));
        try (Stream<Path> left = Files.list(file.getParent())) {
            assertEquals(1, left.count(), "nothing else stays");
        }
    }

    @Test
    void aLinkOfAnotherUserIsRefusedBeforeAnythingIsMade() throws IOException {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), elsewhere);
        PrivateFolder.checkLink(link);
        Object own = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        assumeTrue(own.equals(0), "only root can give a link away");
        Files.setAttribute(link, "unix:uid", 4711, LinkOption.NOFOLLOW_LINKS);
        IOException refused = assertThrows(IOException.class, () -> PrivateFolder.keep(link, LIBRARY, "it.so"));
        assertTrue(refused.getMessage().endsWith("is a link of another user's (UID 4711)"), refused.getMessage());
        try (Stream<Path> made = Files.list(elsewhere)) {
            assertEquals(0, made.count());
        }
    }

    @Test
    void aLinkInItsPlaceIsReplaced() throws IOException {
        Path other = Files.write(folder.resolve("other"), BYTES);
        Path place = Files.createDirectories(folder.resolve("cache/d1"));
        Files.createSymbolicLink(place.resolve("it.so"), other);
        Path file = PrivateFolder.keep(folder.resolve("cache"), LIBRARY, "it.so");
        assertTrue(!Files.isSymbolicLink(file));
    }

    @Test
    void aFolderThatOthersMayWriteToIsRefused() throws IOException {
        Path cache = Files.createDirectories(folder.resolve("open/cache/d1")).getParent();
        Files.setPosixFilePermissions(cache.getParent(), PosixFilePermissions.fromString("rwxrwxrwx"));
        String said = assertThrows(IOException.class, () -> PrivateFolder.keep(cache, LIBRARY, "it.so")).getMessage();
        assertTrue(said.startsWith("other users may write to ") && said.endsWith("/open"), said);
        Files.setPosixFilePermissions(cache.getParent(), PosixFilePermissions.fromString("rwxrwx---"));
        assertThrows(IOException.class, () -> PrivateFolder.keep(cache, LIBRARY, "it.so"));
        Files.setPosixFilePermissions(cache.getParent(), PosixFilePermissions.fromString("rwxr-xr-x"));
        PrivateFolder.keep(cache, LIBRARY, "it.so");
    }

    @Test
    void theCacheOfTheUserComesFirst() {
        String last = "/tmp/terrace-" + System.getProperty("user.name");
        assertEquals(List.of("/c/terrace", last), PrivateFolder.candidates("/c", "/home/u", "/tmp"));
        assertEquals(List.of("/home/u/.cache/terrace", last), PrivateFolder.candidates(null, "/home/u", "/tmp"));
        assertEquals(List.of("/home/u/.cache/terrace", last), PrivateFolder.candidates("relative", "/home/u", "/tmp"));
        assertEquals(List.of(last), PrivateFolder.candidates("", "?", "/tmp"));
        assertEquals(List.of("/c/terrace"), PrivateFolder.candidates("/c", null, null));
    }

    @Test
    void whatIsNoPathIsOnlyUnusable() {
        String said = assertThrows(IOException.class, () -> PrivateFolder.keep("/c\0/terrace", LIBRARY, "it.so")).getMessage();
        assertTrue(said.startsWith("Nul character not allowed"), said);
    }

    @Test
    void aFileSystemWithoutOwnersIsOnlyUnusable() throws IOException {
        try (FileSystem zip = FileSystems.newFileSystem(URI.create("jar:" + folder.resolve("it.zip").toUri()), Map.of("create", "true"))) {
            String said = assertThrows(IOException.class, () -> PrivateFolder.keep(zip.getPath("/c"), LIBRARY, "it.so")).getMessage();
            assertTrue(said.startsWith("/c: its file system has no owners or modes ("), said);
        }
    }
}
