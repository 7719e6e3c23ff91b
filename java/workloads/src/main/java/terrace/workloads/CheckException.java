package terrace.workloads;

/** A workload found one of its own results to be wrong, so that its measurement is worth nothing. */
public final class CheckException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Takes one line that tells what was expected and what was found. */
    public CheckException(String message) {
        super(message);
    }
}
