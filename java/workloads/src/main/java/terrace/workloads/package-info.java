/**
 * Programs that allocate in known ways, count their operations and check their own results.
 *
 * <p>{@link terrace.workloads.Main} is the command. A {@link terrace.workloads.Workload} says what is done and makes
 * {@link terrace.workloads.Worker}s; {@link terrace.workloads.Runner} gives each of them a thread, opens and closes the
 * measured window, and turns two {@link terrace.workloads.Snapshot}s into a {@link terrace.workloads.Result}. What the
 * workers have done so far stands in {@link terrace.workloads.Progress}, which another process can watch.
 */
package terrace.workloads;
