package terrace.jfr;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;
import terrace.Counters;
import terrace.Terrace;

/**
 * The events of the buffers in recordings of the Flight Recorder.
 */
final class Recordings implements FlightRecorderListener {
    private static final Pattern SPAN = Pattern.compile("(\\d+)\\s*(ns|us|ms|s|m|h|d)");

    private final Terrace terrace = Terrace.current();
    private final AtomicBoolean registered = new AtomicBoolean();
    /** There once all of them are registered. */
    private volatile EventType refill;

    private Recordings() {}

    /** Takes part in all recordings from now on. */
    static void begin() {
        Recordings recordings = new Recordings();
        FlightRecorder.addListener(recordings);
        running().forEach(recordings::recordingStateChanged);
    }

    // Holds no lock while it calls the Flight Recorder, which calls with its own.
    @Override
    public void recordingStateChanged(Recording recording) {
        if (recording.getState() == RecordingState.RUNNING && registered.compareAndSet(false, true)) {
            FlightRecorder.register(RefillLoss.class);
            FlightRecorder.addPeriodicEvent(BufferStatistics.class, this::statistics);
            FlightRecorder.addPeriodicEvent(Refill.class, this::refills);
            FlightRecorder.addPeriodicEvent(Settings.class, this::chunk);
            refill = EventType.getEventType(Refill.class);
        }
        want();
    }

    private void statistics() {
        // Also the one that notices when nobody wants refills any more.
        want();
        terrace.counters().levels().forEach(BufferStatistics::commit);
    }

    private void refills() {
        want();
        SlowRefills.commit(terrace.counters());
    }

    /** At a chunk's end nothing may be left for the next one, which need not come. */
    private void chunk() {
        Counters counters = terrace.counters();
        Settings.commit(terrace.status(), counters);
        counters.levels().forEach(BufferStatistics::commit);
        want();
        SlowRefills.commit(counters);
    }

    /** Has the library record what some recording wants. */
    private void want() {
        if (refill == null) {
            return;
        }
        SlowRefills.record(refill.isEnabled() && Refill.isPossible() ? least() : -1);
    }

    /** The lowest threshold of all recordings; JFR holds each of them to its own. */
    private long least() {
        long least = Long.MAX_VALUE;
        for (Recording recording : running()) {
            Map<String, String> settings = recording.getSettings();
            if ("true".equals(setting(settings, "enabled"))) {
                least = Math.min(least, nanos(setting(settings, "threshold")));
            }
        }
        return least == Long.MAX_VALUE ? 0 : least;
    }

    /** While a dump is made there is a null among them, for the Flight Recorder's own copy. */
    private static List<Recording> running() {
        List<Recording> running = new ArrayList<>();
        for (Recording recording : FlightRecorder.getFlightRecorder().getRecordings()) {
            if (recording != null && recording.getState() == RecordingState.RUNNING) {
                running.add(recording);
            }
        }
        return running;
    }

    /** By the event's name, or by its number as a program sets it. */
    private String setting(Map<String, String> settings, String name) {
        String byNumber = settings.get(refill.getId() + "#" + name);
        return byNumber != null ? byNumber : settings.get(refill.getName() + "#" + name);
    }

    /** A time as JFR writes it; 0 for what is none. */
    static long nanos(String span) {
        Matcher found = SPAN.matcher(span == null ? "" : span.trim());
        if (!found.matches()) {
            return 0;
        }
        try {
            return unit(found.group(2)).toNanos(Long.parseLong(found.group(1)));
        } catch (NumberFormatException tooLong) {
            return Long.MAX_VALUE;
        }
    }

    private static TimeUnit unit(String name) {
        switch (name) {
            case "ns":
                return TimeUnit.NANOSECONDS;
            case "us":
                return TimeUnit.MICROSECONDS;
            case "ms":
                return TimeUnit.MILLISECONDS;
            case "s":
                return TimeUnit.SECONDS;
            case "m":
                return TimeUnit.MINUTES;
            case "h":
                return TimeUnit.HOURS;
            default:
                return TimeUnit.DAYS;
        }
    }
}
