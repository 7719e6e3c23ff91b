package terrace;

import com.sun.tools.attach.AgentInitializationException;
import com.sun.tools.attach.AgentLoadException;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Loading the library into another JVM. */
final class Attach {
    private static final String NAME = "libterrace.so";
    private static final String CONTROL = "control=";
    private static final Path SELF = Path.of("/proc/self");

    /** What the JDK's attach mechanism waits for an answer, in milliseconds; 10 seconds are little for a busy machine or a long pause. */
    private static final String TIMEOUT = "sun.tools.attach.attachTimeout";

    private Attach() {}

    static void to(String pid, Path library, String options) throws IOException {
        Path process = Path.of("/proc", pid);
        if (!Files.isDirectory(process)) {
            throw new IOException("no such process " + pid + "; 'jps' lists running JVMs");
        }
        try {
            if (sameRoot(process)) {
                load(pid, process, library, options);
                return;
            }
        } catch (AccessDeniedException denied) {
            throw new IOException("process " + pid + " belongs to another user: run this command as that user", denied);
        }
        throw new IOException("process " + pid + " is in another mount namespace (a container?): use 'terrace attach " + pid
                + "', or run this in its container");
    }

    private static void load(String pid, Path process, Path library, String options) throws IOException {
        Path temporary = null;
        if (System.getProperty(TIMEOUT) == null) {
            System.setProperty(TIMEOUT, "60000");
        }
        try {
            VirtualMachine machine = VirtualMachine.attach(pid);
            try {
                Path seen = library;
                if (!sameUser(process)) {
                    temporary = copy(library);
                    seen = temporary.resolve(NAME);
                }
                machine.loadAgentPath(seen.toString(), withControl(options));
            } finally {
                machine.detach();
            }
        } catch (AttachNotSupportedException | AgentLoadException refused) {
            throw new IOException("process " + pid + " cannot be attached to: " + refused.getMessage(), refused);
        } catch (AgentInitializationException refused) {
            throw new IOException("refused; see the standard error of process " + pid + " for the reason", refused);
        } finally {
            if (temporary != null) {
                Files.deleteIfExists(temporary.resolve(NAME));
                Files.deleteIfExists(temporary);
            }
        }
    }

    /** As with {@code terrace attach}: what is attached is there to be looked at, or is refused. Who names a file has chosen another way to look. */
    static String withControl(String options) {
        String control = null;
        for (String option : options.split(",")) {
            if (option.startsWith(CONTROL)) {
                control = option.substring(CONTROL.length());
            }
        }
        if (control != null && !control.equals("auto")) {
            return options;
        }
        // Before them: the last of two counts.
        String seen = (control == null ? CONTROL + "auto," : "") + "unseen=refuse";
        return options.isEmpty() ? seen : seen + "," + options;
    }

    /** Whether a process has our folders. In others somebody could exchange them while we write, and Java cannot hold on to one. */
    private static boolean sameRoot(Path process) throws IOException {
        for (String place : new String[] {"ns/mnt", "root"}) {
            if (!Files.readSymbolicLink(process.resolve(place)).equals(Files.readSymbolicLink(SELF.resolve(place)))) {
                return false;
            }
        }
        return true;
    }

    /** Whether it may read what is in a private folder of ours. */
    private static boolean sameUser(Path process) throws IOException {
        return Files.getAttribute(process, "unix:uid").equals(Files.getAttribute(SELF, "unix:uid"));
    }

    /** What is loaded from a copy stays when the copy goes. In a sticky folder nobody else can exchange it. */
    private static Path copy(Path library) throws IOException {
        Path place = Files.createTempDirectory(Path.of("/tmp"), "terrace-");
        Files.copy(library, place.resolve(NAME));
        // The JVM may run as another user.
        Files.setPosixFilePermissions(place.resolve(NAME), PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwxr-xr-x"));
        return place;
    }
}
