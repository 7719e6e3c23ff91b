package terrace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** {@code libterrace.so} in this JVM: there as an agent already, or loaded out of the jar. */
final class Library {
    private static final String NAME = "libterrace.so";
    /** In the manifest. */
    private static final String TITLE = "terrace";

    /** Whether {@link #missing} was found out. What was in the way once is not tried again. */
    private static boolean tried;

    private static String missing;
    private static String[] counters;

    private Library() {}

    /** Why it cannot be used, or null. */
    static synchronized String missing() {
        if (!tried) {
            try {
                missing = bring();
            } catch (SecurityException forbidden) {
                missing = "the security manager forbids it (" + forbidden.getMessage() + "): grant terrace.jar java.security.AllPermission";
            } catch (RuntimeException | LinkageError unexpected) {
                missing = NAME + " cannot be used: " + unexpected.toString().replace('\n', ' ') + ": load it with -agentpath";
            }
            tried = true;
        }
        return missing;
    }

    /** The names of the counters in their order. Only if nothing is missing. */
    static synchronized String[] counters() {
        return counters.clone();
    }

    private static String bring() {
        String[] description;
        try {
            description = describe();
        } catch (UnsatisfiedLinkError notThere) {
            String reason = load();
            if (reason != null) {
                return reason;
            }
            description = describe();
        }
        counters = Arrays.copyOfRange(description, 1, description.length);
        String own = version();
        if (own != null && !own.equals(description[0])) {
            return "libterrace.so " + description[0] + " is loaded, but terrace.jar is " + own + ": use the same release of both";
        }
        return null;
    }

    /** HotSpot looks for native methods in agents as well: no library is loaded for one that came with {@code -agentpath}. */
    private static String[] describe() {
        return Native.fields(Native.describe());
    }

    /** The version of this jar, if it says one. In an application's jar that contains this one the manifest is the application's. */
    static String version() {
        Module module = Library.class.getModule();
        if (module.isNamed()) {
            return module.getDescriptor().rawVersion().orElse(null);
        }
        Package own = Library.class.getPackage();
        return TITLE.equals(own.getImplementationTitle()) ? own.getImplementationVersion() : null;
    }

    /** Loads the library of this machine; the reason if that fails, or null. */
    private static String load() {
        List<String> reasons = new ArrayList<>();
        try {
            Packed library = packed();
            for (String folder : PrivateFolder.candidates()) {
                try {
                    System.load(PrivateFolder.keep(folder, library, NAME).toString());
                    return null;
                } catch (IOException unusable) {
                    reasons.add(said(unusable));
                } catch (UnsatisfiedLinkError error) {
                    reasons.add(said(error));
                    if (!isOfFolder(error)) {
                        return NAME + " cannot be loaded: " + said(error);
                    }
                } catch (IllegalCallerException forbidden) {
                    return "this JVM forbids native libraries: start it with --enable-native-access="
                            + (Library.class.getModule().isNamed() ? "terrace" : "ALL-UNNAMED");
                }
            }
        } catch (IOException missing) {
            return missing.getMessage();
        }
        return nowhere(reasons);
    }

    /** The library of this machine, unpacked. */
    static Path unpacked() throws IOException {
        List<String> reasons = new ArrayList<>();
        Packed library = packed();
        for (String folder : PrivateFolder.candidates()) {
            try {
                Path file = PrivateFolder.keep(folder, library, NAME);
                if (!isExecutable(file)) {
                    throw new IOException(file.getParent() + " is mounted noexec");
                }
                return file;
            } catch (IOException unusable) {
                reasons.add(said(unusable));
            }
        }
        throw new IOException(nowhere(reasons));
    }

    /**
     * Whether the file system lets code of a file be mapped, by the kernel's list: the file itself cannot be tried, because a library that is loaded stays. What is not listed is believed to be
     * executable.
     */
    static boolean isExecutable(Path file) throws IOException {
        try {
            return isExecutable(file.toRealPath().toString(), Files.readString(Path.of("/proc/self/mountinfo"), StandardCharsets.ISO_8859_1));
        } catch (NoSuchFileException hidden) {
            return true;
        }
    }

    /** The last mount of the longest path above a file is the one that it lies in: {@code 36 35 98:0 / /mnt rw,noexec shared:1 - ext4 ...} (proc(5)). */
    static boolean isExecutable(String file, String mounts) {
        // In the list a path is bytes, with blanks and the like in octal.
        String bytes = new String(file.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        String escaped = bytes.replace("\\", "\\134").replace(" ", "\\040").replace("\t", "\\011").replace("\n", "\\012");
        int longest = -1;
        boolean executable = true;
        for (String line : mounts.split("\n")) {
            String[] words = line.split(" ");
            if (words.length < 6) {
                continue;
            }
            String folder = words[4].equals("/") ? "/" : words[4] + "/";
            if (folder.length() >= longest && escaped.startsWith(folder)) {
                longest = folder.length();
                executable = !Arrays.asList(words[5].split(",")).contains("noexec");
            }
        }
        return executable;
    }

    private static Packed packed() throws IOException {
        String platform = platform(System.getProperty("os.name"), System.getProperty("os.arch"));
        Packed library;
        try {
            library = Packed.find(platform);
        } catch (IOException unreadable) {
            throw new IOException("terrace.jar cannot be read: " + unreadable, unreadable);
        }
        if (library == null) {
            throw new IOException("this terrace.jar has no library for " + platform + ": use the jar of a release, or -agentpath:" + NAME);
        }
        return library;
    }

    private static String nowhere(List<String> reasons) {
        return "no directory for " + NAME + " (" + String.join("; ", reasons) + "): set XDG_CACHE_HOME to a directory of your own that is not mounted noexec";
    }

    /** Whether the loader complains of the folder, and not of the library: that it is mounted noexec. */
    private static boolean isOfFolder(UnsatisfiedLinkError error) {
        String said = String.valueOf(error.getMessage());
        return said.contains("failed to map segment") || said.contains("not permitted");
    }

    private static String said(Throwable error) {
        String message = error instanceof UnsatisfiedLinkError ? error.getMessage() : error.toString();
        return String.valueOf(message).replace('\n', ' ');
    }

    /** The folder of the jar for an operating system and processor, as Java names them. */
    static String platform(String system, String processor) {
        String shortened = processor.equals("amd64") || processor.equals("x86_64") ? "x64" : processor.equals("aarch64") ? "arm64" : processor;
        return (system.equals("Linux") ? "linux" : system.toLowerCase(Locale.ROOT).replace(' ', '-')) + "-" + shortened;
    }
}
