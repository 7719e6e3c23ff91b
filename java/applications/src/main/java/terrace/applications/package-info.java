/**
 * Real programs as workloads: each is driven by its own operations and checks its results.
 *
 * <p>An operation is a batch of a {@link terrace.workloads.Worker}; {@link terrace.applications.Timed} records how long each takes.
 * Threads, warm-up, the measured window and the result are those of {@link terrace.workloads}.
 */
package terrace.applications;
