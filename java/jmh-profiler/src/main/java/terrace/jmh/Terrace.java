package terrace.jmh;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.openjdk.jmh.profile.ProfilerException;

/** Terrace's agent, and the command that reads its counters and switches its buffers. */
final class Terrace {
    private static final String LIBRARY = "libterrace.so";
    private static final String REMEDY =
            "put the command 'terrace' on PATH, or specify the library with library=PATH or TERRACE_LIBRARY";

    private final Path library;
    private final Path command;

    private Terrace(Path library, Path command) {
        this.library = library;
        this.command = command;
    }

    /** By the path that is asked for, else {@code TERRACE_LIBRARY}, else in {@code TERRACE_HOME}, else beside the command on {@code PATH}. */
    static Terrace find(String asked, Map<String, String> environment) throws ProfilerException {
        String named = asked.isEmpty() ? environment.getOrDefault("TERRACE_LIBRARY", "") : asked;
        Path library = named.isEmpty() ? installed(environment) : Path.of(named).toAbsolutePath();
        if (!Files.isRegularFile(library)) {
            throw new ProfilerException("terrace: no library " + library + ": specify " + LIBRARY
                    + " with library=PATH or TERRACE_LIBRARY");
        }
        if (library.toString().contains("=")) {
            throw new ProfilerException("terrace: " + library + ": the JVM cannot load an agent from a path with '=': move it");
        }
        return new Terrace(library, commandOf(library, environment));
    }

    private static Path installed(Map<String, String> environment) throws ProfilerException {
        String home = environment.getOrDefault("TERRACE_HOME", "");
        Stream<Path> places = home.isEmpty()
                ? onPath(environment).stream().map(command -> real(command).resolveSibling(""))
                : Stream.of(Path.of(home));
        Optional<Path> found = places.flatMap(place -> Stream.of("", "lib", "lib/terrace", "../lib", "../lib/terrace")
                        .map(folder -> place.resolve(folder).resolve(LIBRARY).normalize()))
                .filter(Files::isRegularFile)
                .findFirst();
        return found.map(Path::toAbsolutePath)
                .orElseThrow(() -> new ProfilerException("terrace: " + LIBRARY + " not found: " + REMEDY));
    }

    private static Path commandOf(Path library, Map<String, String> environment) throws ProfilerException {
        Path folder = real(library).resolveSibling("");
        Stream<Path> beside = Stream.of("terrace", "../bin/terrace", "../../bin/terrace")
                .map(name -> folder.resolve(name).normalize())
                .filter(Terrace::isProgram);
        return Stream.concat(beside, onPath(environment).stream())
                .findFirst()
                .orElseThrow(() -> new ProfilerException(
                        "terrace: the command 'terrace', which reads the counters, was not found beside " + library
                                + ": put it there, in ../bin, or on PATH"));
    }

    private static List<Path> onPath(Map<String, String> environment) {
        List<Path> found = new ArrayList<>();
        for (String folder : environment.getOrDefault("PATH", "").split(":")) {
            Path command = Path.of(folder, "terrace");
            if (!folder.isEmpty() && isProgram(command)) {
                found.add(command);
            }
        }
        return found;
    }

    private static boolean isProgram(Path path) {
        return Files.isRegularFile(path) && Files.isExecutable(path);
    }

    private static Path real(Path path) {
        try {
            return path.toRealPath();
        } catch (IOException error) {
            return path;
        }
    }

    Path library() {
        return library;
    }

    /** The counters of this JVM now. */
    Snapshot snapshot() throws IOException, InterruptedException {
        return new Snapshot(ask("status", "--format", "json"));
    }

    /** Switches the buffers of this JVM. */
    void switchBuffers(boolean on) throws IOException, InterruptedException {
        ask(on ? "on" : "off");
    }

    /** Asks the command about this JVM; its answer, or its line of error. */
    private String ask(String what, String... options) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(
                List.of(command.toString(), what, Long.toString(ProcessHandle.current().pid())));
        words.addAll(List.of(options));
        Process process = new ProcessBuilder(words).start();
        process.getOutputStream().close();
        String answer = text(process.getInputStream());
        // One line at most: it waits in the pipe.
        String error = text(process.getErrorStream());
        if (process.waitFor() != 0) {
            throw new IOException(error.strip().replaceFirst("^terrace: ", ""));
        }
        return answer;
    }

    private static String text(InputStream stream) throws IOException {
        return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }
}
