package terrace.workloads;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The command line of {@code profile}.
 *
 * @param workload to run
 * @param parameters for it, with one thread
 * @param warmupRounds rounds before the measured ones
 * @param rounds that are measured
 * @param dumps the folder for two heap dumps; null for none
 */
record ProfileOptions(Workload workload, Parameters parameters, int warmupRounds, int rounds, Path dumps) {
    private static final List<String> NAMES =
            List.of("--warmup-rounds", "--rounds", "--dumps", "--sources", "--progress");
    private static final int MOST_ROUNDS = 10_000;

    /** Reads {@code NAME --option value ...}. */
    static ProfileOptions parse(List<String> arguments) throws UsageException {
        if (arguments.isEmpty()) {
            throw new UsageException("profile requires a workload: write profile javac");
        }
        Workload workload = Workloads.OWN.named(arguments.get(0));
        Map<String, String> values = Options.values(arguments, NAMES);
        Options.refuseUnused(workload, values);
        Path sources = workload.takesSources() ? Options.sources(values) : null;
        int size = workload.defaultSize().orElse(-1);
        return new ProfileOptions(
                workload,
                new Parameters(1, 0, 0, size, sources, Options.path(values, "--progress")),
                Options.integer(values, "--warmup-rounds", 16, 0, MOST_ROUNDS),
                Options.integer(values, "--rounds", 1, 1, MOST_ROUNDS),
                Options.path(values, "--dumps"));
    }
}
