package terrace;

import terrace.jfr.FirstRecording;

/** Waits for a recording as soon as the JVM has the Flight Recorder's class: until then there is none. */
final class FlightRecording extends ClassAwaited {
    FlightRecording() {
        super("jdk/jfr/FlightRecorder");
    }

    @Override
    void came() {
        FirstRecording.await();
    }
}
