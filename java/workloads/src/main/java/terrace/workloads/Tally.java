package terrace.workloads;

/**
 * The operations of one worker. It has no state but its slot in {@link Progress}, which lies on cache lines of its own:
 * a counter in a heap object might share its line with that of another thread.
 */
public final class Tally {
    private final Progress progress;
    private final int slot;

    /** The tally that lives in this slot. */
    Tally(Progress progress, int slot) {
        this.progress = progress;
        this.slot = slot;
    }

    /** Adds finished operations. Only the worker that owns the tally calls this. */
    public void add(long operations) {
        progress.write(slot, progress.read(slot) + operations);
    }

    /** The operations of all workers since the start. */
    long totalOfAll() {
        return progress.sum();
    }

    /** Whether the measured window is open. */
    public boolean isMeasuring() {
        return progress.isMeasuring();
    }

    /** The stretch of time that whoever watches has begun; 0 outside of any. */
    public long stretch() {
        return progress.stretch();
    }

    /** The operations since the start. */
    public long total() {
        return progress.read(slot);
    }
}
