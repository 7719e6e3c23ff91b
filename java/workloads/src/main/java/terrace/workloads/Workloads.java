package terrace.workloads;

import java.util.ArrayList;
import java.util.List;

/** All workloads there are: a new one is an entry here. */
final class Workloads {
    private static final List<Workload> ALL =
            List.of(new AllocWorkload(), new SizesWorkload(), new JavacWorkload(), new ChurnWorkload(), new ThreadsWorkload());

    private Workloads() {}

    /** All, in the order in which they are listed. */
    static List<Workload> all() {
        return ALL;
    }

    /** The workload with this name. */
    static Workload named(String name) throws UsageException {
        for (Workload workload : ALL) {
            if (workload.name().equals(name)) {
                return workload;
            }
        }
        throw new UsageException("unknown workload " + name + ": choose " + names());
    }

    /** The names for a message. */
    static String names() {
        List<String> names = new ArrayList<>();
        for (Workload workload : ALL) {
            names.add(workload.name());
        }
        return String.join(", ", names);
    }
}
