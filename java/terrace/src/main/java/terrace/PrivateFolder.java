package terrace;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Where a file can be kept that nobody else can exchange. */
final class PrivateFolder {
    private static final int OTHERS_MAY_WRITE = 0_022;
    private static final int STICKY = 0_1000;

    private PrivateFolder() {}

    /** Folders to try, the best first. */
    static List<String> candidates() {
        return candidates(System.getenv("XDG_CACHE_HOME"), System.getProperty("user.home"), System.getProperty("java.io.tmpdir"));
    }

    /** Names: not all that an environment has are paths in the JVM's locale. */
    static List<String> candidates(String cache, String home, String temporary) {
        List<String> found = new ArrayList<>();
        if (cache != null && cache.startsWith("/")) {
            found.add(cache + "/terrace");
        } else if (home != null && home.startsWith("/")) {
            found.add(home + "/.cache/terrace");
        }
        if (temporary != null) {
            found.add(temporary + "/terrace-" + System.getProperty("user.name"));
        }
        return found;
    }

    /** A copy of the library in the folder of this name. */
    static Path keep(String folder, Packed library, String name) throws IOException {
        Path path;
        try {
            path = Path.of(folder);
        } catch (InvalidPathException unknown) {
            throw new IOException(unknown.getMessage(), unknown);
        }
        return keep(path, library, name);
    }

    /**
     * A copy of the library in such a folder, in one that is named by its digest. What is there already is compared, and replaced if it is another: at no moment a process that has it
     * loaded sees it change.
     */
    static Path keep(Path folder, Packed library, String name) throws IOException {
        try {
            return kept(folder, library, name);
        } catch (UnsupportedOperationException unknown) {
            // A file system of the program's, in place of the JDK's.
            throw new IOException(folder + ": its file system has no owners or modes (" + unknown.getMessage() + ")", unknown);
        }
    }

    private static Path kept(Path folder, Packed library, String name) throws IOException {
        Path place = folder.resolve(library.digest);
        checkLink(folder);
        if (!Files.isDirectory(place)) {
            Files.createDirectories(place, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        place = place.toRealPath();
        check(place);
        Path file = place.resolve(name);
        if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) && library.is(file)) {
            return file;
        }
        Path temporary = place.resolve(name + "." + ProcessHandle.current().pid() + "." + System.nanoTime());
        try {
            Files.createFile(temporary, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            library.unpack(temporary);
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(temporary);
        }
        return file;
    }

    /** Refuses a link of another user's before anything is made where it leads: whoever may write to {@code /tmp} can have made it. */
    static void checkLink(Path folder) throws IOException {
        if (Files.isSymbolicLink(folder)) {
            Object owner = Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS);
            if (!owner.equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid")) && !owner.equals(0)) {
                throw new IOException(folder + " is a link of another user's (UID " + owner + ")");
            }
        }
    }

    /** Refuses a folder that another user than root could exchange, or anything in it: itself, or one that it is in. */
    static void check(Path real) throws IOException {
        Object own = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        for (Path folder = real; folder != null; folder = folder.getParent()) {
            Map<String, Object> found = Files.readAttributes(folder, "unix:uid,mode");
            Object owner = found.get("uid");
            int mode = (int) found.get("mode");
            if (!owner.equals(own) && !owner.equals(0)) {
                throw new IOException(folder + " belongs to another user (UID " + owner + ")");
            }
            // In a sticky folder such as /tmp nobody can exchange what belongs to others.
            boolean kept = folder != real && (mode & STICKY) != 0;
            if ((mode & OTHERS_MAY_WRITE) != 0 && !kept) {
                throw new IOException("other users may write to " + folder);
            }
        }
    }
}
