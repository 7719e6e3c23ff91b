package terrace.workloads;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The workloads that a command runs.
 *
 * @param command its name in messages
 * @param help the answer to {@code --help}, before the list of workloads and behind it
 * @param all in the order in which they are listed
 */
public record Workloads(String command, Help help, List<Workload> all) {
    /** Those of this package: a new one is an entry here. */
    static final Workloads OWN = new Workloads(
            "terrace-workloads",
            Help.OWN,
            List.of(new AllocWorkload(), new SizesWorkload(), new JavacWorkload(), new ChurnWorkload(), new ThreadsWorkload()));

    /** The workload with this name. */
    Workload named(String name) throws UsageException {
        for (Workload workload : all) {
            if (workload.name().equals(name)) {
                return workload;
            }
        }
        throw new UsageException("unknown workload " + name + ": choose " + names());
    }

    /** The names for a message. */
    String names() {
        return all.stream().map(Workload::name).collect(Collectors.joining(", "));
    }
}
