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
            List.of(
                    "--threads", "--seconds", "--warmup", "--size", "--sizes", "--mixture", "--bytes", "--operations",
                    "--sources", "--progress", "--calls", "--window", "--format");
    /** The measured window is that of the reader of {@code --progress}. */
    static final String EXTERNAL = "external";

    private static final int MOST_THREADS = 100_000;
    private static final double LONGEST = 86_400;
    private static final String DEFAULT_SOURCES = "commons-lang3-3.12.0-sources.jar";

    /** Reads {@code NAME --option value ...}, where the name is that of one of these workloads. */
    static Options parse(List<String> arguments, Workloads workloads) throws UsageException {
        Workload workload = workloads.named(arguments.get(0));
        Map<String, String> values = values(arguments, NAMES);
        refuseUnused(workload, values);
        Parameters parameters = new Parameters(
                integer(values, "--threads", workload.defaultThreads(), 1, MOST_THREADS),
                number(values, "--seconds", 10, 0.001),
                number(values, "--warmup", workload.defaultWarmup(), 0),
                size(values, workload),
                workload.takesSources() ? sources(values) : null,
                path(values, "--progress"),
                lengths(values),
                work(values),
                path(values, "--calls"),
                externalWindow(values));
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
                throw new UsageException(name + " is given twice: leave out one");
            }
        }
        return values;
    }

    /** Refuses options that mean nothing to a workload. */
    static void refuseUnused(Workload workload, Map<String, String> values) throws UsageException {
        if (workload.defaultSize().isEmpty() && values.containsKey("--size")) {
            throw new UsageException(workload.name() + " has no size: leave out --size");
        }
        if (!workload.takesSources() && values.containsKey("--sources")) {
            throw new UsageException(workload.name() + " compiles nothing: leave out --sources");
        }
        for (String name : List.of("--sizes", "--mixture")) {
            if (!workload.takesLengths() && values.containsKey(name)) {
                throw new UsageException(name + " applies to the workloads sizes and churn: leave it out, or run one of them");
            }
        }
        if (!workload.countsBytes() && values.containsKey("--bytes")) {
            throw new UsageException("--bytes applies to the workload sizes: leave it out, or run sizes");
        }
        if (!workload.recordsCalls() && values.containsKey("--calls")) {
            throw new UsageException("--calls applies to the workload javac: leave it out, or run javac");
        }
        refuseTogether(values, List.of("--size", "--sizes", "--mixture"));
        refuseTogether(values, List.of("--seconds", "--bytes", "--operations"));
    }

    private static void refuseTogether(Map<String, String> values, List<String> names) throws UsageException {
        List<String> given = names.stream().filter(values::containsKey).toList();
        if (given.size() > 1) {
            throw new UsageException(String.join(" and ", given) + " contradict each other: leave out all but one");
        }
    }

    private static boolean externalWindow(Map<String, String> values) throws UsageException {
        String window = values.get("--window");
        if (window == null) {
            return false;
        }
        if (!window.equals(EXTERNAL)) {
            throw new UsageException("unknown --window " + window + ": write --window external, or leave it out");
        }
        if (!values.containsKey("--progress")) {
            throw new UsageException("--window external needs --progress: its reader opens and closes the window");
        }
        for (String name : List.of("--warmup", "--seconds", "--bytes", "--operations")) {
            refuseTogether(values, List.of("--window", name));
        }
        return true;
    }

    private static Lengths lengths(Map<String, String> values) throws UsageException {
        if (values.containsKey("--sizes")) {
            return Lengths.list(values.get("--sizes"));
        }
        return values.containsKey("--mixture") ? Lengths.mixture(values.get("--mixture")) : null;
    }

    /** Operations after which the run ends; 0 without such an option. */
    private static long work(Map<String, String> values) throws UsageException {
        for (String name : List.of("--bytes", "--operations")) {
            String value = values.get(name);
            if (value != null) {
                long work = bytes(value);
                if (work <= 0) {
                    throw new UsageException(
                            name + " " + value + " is not an amount of work: write a number, with k, m or g, such as 20g");
                }
                return work;
            }
        }
        return 0;
    }

    private static int size(Map<String, String> values, Workload workload) throws UsageException {
        String value = values.get("--size");
        if (value == null) {
            return workload.defaultSize().orElse(-1);
        }
        long size = bytes(value);
        if (size < workload.minimumSize() || size > Lengths.LONGEST) {
            throw new UsageException("--size " + value + " is not an integer from " + workload.minimumSize() + " to "
                    + Lengths.LONGEST + ", in bytes or with k, m or g");
        }
        return (int) size;
    }

    /** {@code 64k}, {@code 1m}, {@code 20G} or plain bytes, in bytes; -1 for anything else. */
    static long bytes(String text) {
        int unit = text.isEmpty() ? -1 : "kmg".indexOf(Character.toLowerCase(text.charAt(text.length() - 1)));
        String digits = unit < 0 ? text : text.substring(0, text.length() - 1);
        boolean plain = !digits.isEmpty() && digits.length() <= 15
                && digits.chars().allMatch(digit -> digit >= '0' && digit <= '9');
        if (!plain) {
            return -1;
        }
        long number = Long.parseLong(digits);
        long factor = 1L << (10 * (unit + 1));
        return number > Long.MAX_VALUE / factor ? -1 : number * factor;
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
        throw new UsageException(name + " " + value + " is not an integer from " + least + " to " + most);
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
        throw new UsageException(name + " " + value + " is not a number of seconds from " + least + " to " + LONGEST);
    }

    /** A path; null where none is given. */
    static Path path(Map<String, String> values, String name) throws UsageException {
        String value = values.get(name);
        try {
            return value == null ? null : Path.of(value);
        } catch (InvalidPathException e) {
            throw new UsageException(name + " " + value + " is not a path: " + e.getReason());
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
        throw new UsageException("javac has nothing to compile: specify a jar of sources with --sources, such as "
                + DEFAULT_SOURCES);
    }

    private static boolean isText(String format) throws UsageException {
        if (!format.equals("text") && !format.equals("json")) {
            throw new UsageException("unknown --format " + format + ": choose json or text");
        }
        return format.equals("text");
    }
}
