package terrace.workloads;

import java.util.Map;
import java.util.OptionalInt;

/** A kind of work that threads do until they are told to stop. */
public interface Workload {
    /** The name on the command line. */
    String name();

    /** One sentence for {@code list}. */
    String summary();

    /** The number of threads without {@code --threads}. */
    int defaultThreads();

    /** The value of {@code --size} without that option; empty for a workload that has no size. */
    default OptionalInt defaultSize() {
        return OptionalInt.empty();
    }

    /** What {@code --size} means here; empty for a workload that has no size. */
    default String sizeMeaning() {
        return "";
    }

    /** The smallest {@code --size} that makes sense. */
    default int minimumSize() {
        return 0;
    }

    /** The seconds of warm-up without {@code --warmup}. */
    default double defaultWarmup() {
        return 2;
    }

    /** True for a workload that reads {@code --sources}. */
    default boolean takesSources() {
        return false;
    }

    /** True for a workload that reads {@code --sizes} and {@code --mixture}. */
    default boolean takesLengths() {
        return false;
    }

    /** True for a workload whose operations are bytes, so that {@code --bytes} says how many. */
    default boolean countsBytes() {
        return false;
    }

    /** True for a workload that records its calls. */
    default boolean recordsCalls() {
        return false;
    }

    /** True if the workers' own threads do the allocation, so that theirs is all there is to count. */
    default boolean allocatesInWorkers() {
        return true;
    }

    /** Makes ready what all workers share. */
    Prepared prepare(Parameters parameters) throws Exception;

    /** A workload that is ready to run. */
    interface Prepared {
        /** What is counted, in words, such as {@code byte[16] allocated}. */
        String operation();

        /** Facts about this run for the result, in the order in which they are shown. */
        default Map<String, Object> facts() {
            return Map.of();
        }

        /**
         * Checks what can be checked only when all workers have ended, and returns what was found out, for the result, in the
         * order in which it is shown.
         */
        default Map<String, Object> findings() throws Exception {
            return Map.of();
        }

        /** Batches of a worker after which it has done everything once and begins again; 0 where nothing repeats. */
        default int batchesInRound() {
            return 0;
        }

        /** Makes the worker with this index; it reports what it does to {@code tally}. */
        Worker worker(int index, Tally tally);
    }
}
