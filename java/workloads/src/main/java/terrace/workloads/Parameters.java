package terrace.workloads;

import java.nio.file.Path;

/**
 * What a run was asked to do, with every default filled in.
 *
 * @param threads number of workers
 * @param seconds length of the measured window
 * @param warmup seconds of work before it
 * @param size bytes, as the workload understands them; -1 for a workload that has no size
 * @param sources the jar that the {@code javac} workload compiles; null for the others
 * @param progress the file that others watch; null for none
 * @param lengths of arrays, for the {@code sizes} workload; null for one of {@code size}, and for the others
 * @param work operations after which the measured window closes; 0 leaves that to {@code seconds}
 * @param calls the file in which calls are recorded; null for none
 * @param externalWindow whether the reader of {@code progress} lets the work begin, opens and closes the measured window, and
 *     says when to stop
 */
public record Parameters(
        int threads,
        double seconds,
        double warmup,
        int size,
        Path sources,
        Path progress,
        Lengths lengths,
        long work,
        Path calls,
        boolean externalWindow) {
    /** A run that ends by its time. */
    Parameters(int threads, double seconds, double warmup, int size, Path sources, Path progress) {
        this(threads, seconds, warmup, size, sources, progress, null, 0, null, false);
    }
}
