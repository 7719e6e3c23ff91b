package terrace.workloads;

/** The command line cannot be carried out. The message is one line and names the remedy. */
public final class UsageException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Takes the line that the user is to read. */
    public UsageException(String message) {
        super(message);
    }
}
