package terrace.threads;

/** How long to wait between looks for what need not come: little for ten seconds, and then a second. */
public final class Looks {
    private static final long OFTEN_MILLIS = 20;
    private static final long AT_TIMES_MILLIS = 1000;
    private static final int OFTEN = 500;

    private int count;

    /** Waits for the next look. */
    public void pause() throws InterruptedException {
        Thread.sleep(count < OFTEN ? OFTEN_MILLIS : AT_TIMES_MILLIS);
        count++;
    }
}
