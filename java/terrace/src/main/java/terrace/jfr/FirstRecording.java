package terrace.jfr;

import jdk.jfr.FlightRecorder;
import terrace.threads.Daemon;
import terrace.threads.Looks;

/**
 * Waits for the first recording of the Flight Recorder.
 *
 * <p>To be told of it would start half of the Flight Recorder (30 to 180 ms). So a thread looks now and then whether there is one, which is a look at a field, and from
 * then on the Flight Recorder calls.
 */
public final class FirstRecording implements Runnable {
    private static boolean awaited;

    private FirstRecording() {}

    /** Takes part in all recordings from now on. Nothing but a thread comes of it until there is one. */
    public static synchronized void await() {
        if (awaited) {
            return;
        }
        try {
            Daemon.begin("Terrace waits for recordings", new FirstRecording());
            awaited = true;
        } catch (OutOfMemoryError | SecurityException none) {
            // No thread can be had: only the events are missing then.
        }
    }

    @Override
    public void run() {
        try {
            // The one that a JVM starts with begins soon, and `jfr view` knows only events that are registered when JFR first writes, a second later.
            Looks looks = new Looks();
            while (!FlightRecorder.isInitialized()) {
                looks.pause();
            }
            Recordings.begin();
        } catch (InterruptedException | RuntimeException | LinkageError end) {
            // Somebody wants it to end, or this JVM has no Flight Recorder for it. A program may end for what no thread catches.
            return;
        }
    }
}
