package terrace.applications;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import terrace.workloads.CheckException;

/** What the system says of this process's memory. */
final class Resident {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String MOST = "VmHWM:";

    private Resident() {}

    /** The most that was resident since the process began. */
    static long mostBytes() throws IOException, CheckException {
        for (String line : Files.readAllLines(STATUS)) {
            if (line.startsWith(MOST)) {
                // "VmHWM:     123456 kB"
                return Long.parseLong(line.substring(MOST.length()).replace("kB", "").trim()) << 10;
            }
        }
        throw new CheckException(STATUS + " has no line " + MOST + " run it on Linux");
    }
}
