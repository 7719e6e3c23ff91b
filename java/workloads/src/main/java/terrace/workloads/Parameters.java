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
 */
record Parameters(int threads, double seconds, double warmup, int size, Path sources, Path progress) {}
