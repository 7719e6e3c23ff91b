package terrace.workloads;

import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The command line of a run.
 *
 * @param workload to run
 * @param parameters with every default filled in
 * @param text true for text, false for JSON
 */
record Options(Workload workload, Parameters parameters, boolean text) {
    private static final List<String> NAMES =
            List.of("--threads", "--seconds", "--warmup", "--size", "--sources", "--progress", "--format");
    private static final int MOST_THREADS = 100_000;
    private static final double LONGEST = 86_400;
    private static final String DEFAULT_SOURCES = "commons-lang3-3.12.0-sources.jar";

    /** Reads {@code NAME --option value ...}. */
    static Options parse(List<String> arguments) throws UsageException {
        Workload workload = Workloads.named(arguments.get(0));
        Map<String, String> values = values(arguments, NAMES);
        refuseUnused(workload, values);
        Parameters parameters = new Parameters(
                integer(values, "--threads", workload.defaultThreads(), 1, MOST_THREADS),
                number(values, "--seconds", 10, 0.001),
                number(values, "--warmup", workload.defaultWarmup(), 0),
                integer(values, "--size", workload.defaultSize().orElse(-1), workload.minimumSize(), 1 << 30),
                workload.takesSources() ? sources(values) : null,
                path(values, "--progress"));
        return new Options(workload, parameters, isText(values.getOrDefault("--format", "json")));
    }

    /** The values that follow the first argument, by the names of their options. */
    static Map<String, String> values(List<String> arguments, List<String> names) throws UsageException {
        Map<String, String> values = new HashMap<>();
        for (int i = 1; i < arguments.size(); i += 2) {
            String name = arguments.get(i);
            if (!names.contains(name)) {
                throw new UsageException("unknown option " + name + ": choose from " + String.join(", ", names));
            }
            if (i + 1 == arguments.size()) {
                throw new UsageException(name + " needs a value: see --help");
            }
            if (values.put(name, arguments.get(i + 1)) != null) {
                throw new UsageException(name + " is given twice: leave one out");
            }
        }
        return values;
    }

    /** Refuses options that mean nothing to a workload. */
    static void refuseUnused(Workload workload, Map<String, String> values) throws UsageException {
        if (workload.defaultSize().isEmpty() && values.containsKey("--size")) {
            throw new UsageException(workload.name() + " has no size: leave --size out");
        }
        if (!workload.takesSources() && values.containsKey("--sources")) {
            throw new UsageException(workload.name() + " compiles nothing: leave --sources out");
        }
    }

    /** A whole number within bounds. */
    static int integer(Map<String, String> values, String name, int otherwise, int least, int most)
            throws UsageException {
        String value = values.get(name);
        if (value == null) {
            return otherwise;
        }
        try {
            int number = Integer.parseInt(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Reported below, like a number out of range.
        }
        throw new UsageException(name + " " + value + " is no whole number from " + least + " to " + most);
    }

    private static double number(Map<String, String> values, String name, double otherwise, double least)
            throws UsageException {
        String value = values.get(name);
        if (value == null) {
            return otherwise;
        }
        try {
            double number = Double.parseDouble(value);
            if (number >= least && number <= LONGEST) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Reported below, like a number out of range.
        }
        throw new UsageException(name + " " + value + " is no number of seconds from " + least + " to " + LONGEST);
    }

    /** A path; null where none is given. */
    static Path path(Map<String, String> values, String name) throws UsageException {
        String value = values.get(name);
        try {
            return value == null ? null : Path.of(value);
        } catch (InvalidPathException e) {
            throw new UsageException(name + " " + value + " is no path: " + e.getReason());
        }
    }

    /** The jar of sources. The default lies beside our own jar, where the build puts it. */
    static Path sources(Map<String, String> values) throws UsageException {
        Path given = path(values, "--sources");
        if (given != null) {
            return given;
        }
        try {
            Path own = Path.of(Options.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            Path beside = own.resolveSibling(DEFAULT_SOURCES);
            if (Files.isRegularFile(beside)) {
                return beside;
            }
        } catch (URISyntaxException e) {
            // As if there were nothing beside it.
        }
        throw new UsageException("javac has nothing to compile: name a jar of sources with --sources, such as "
                + DEFAULT_SOURCES);
    }

    private static boolean isText(String format) throws UsageException {
        if (!format.equals("text") && !format.equals("json")) {
            throw new UsageException("unknown --format " + format + ": choose json or text");
        }
        return format.equals("text");
    }
}
