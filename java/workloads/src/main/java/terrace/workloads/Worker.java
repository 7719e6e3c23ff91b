package terrace.workloads;

/**
 * The work of one thread. Every method is called on that thread: {@link #begin} once, {@link #batch} until the run
 * ends, {@link #end} once.
 *
 * <p>A worker that is to measure allocation keeps no mutable fields: worker objects may lie side by side in the heap,
 * and threads that write to neighbours contend for the cache line between them.
 */
public interface Worker {
    /** Prepares what only this thread can prepare, before the warm-up. */
    default void begin() throws Exception {}

    /**
     * Does some work, adds it to the {@link Tally}, and checks its results. A batch is a method of its own, and not the
     * loop around it, so that the JIT compiles it as a normal method.
     */
    void batch() throws Exception;

    /** Checks what can be checked only when everything is done. */
    default void end() throws Exception {}
}
