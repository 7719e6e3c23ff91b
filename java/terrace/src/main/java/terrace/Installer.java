package terrace;

import java.lang.instrument.Instrumentation;

/** What {@link Agent} does in a JVM that has what the other classes need. */
final class Installer {
    private Installer() {}

    static void begin(String options, Instrumentation instrumentation, int manner) {
        // Whatever left this would end the JVM.
        String missing;
        try {
            missing = Terrace.install(options == null ? "" : options, manner).missing();
        } catch (Throwable unexpected) {
            missing = unexpected.toString();
        }
        if (missing != null) {
            Agent.goOnWithout(missing, options, manner == Native.AT_START);
            return;
        }
        try {
            ClassAwaited.await(instrumentation, new Management(), new FlightRecording());
        } catch (SecurityException forbidden) {
            // Only the bean and the events are missing then.
        } catch (Throwable unexpected) {
            System.err.println("terrace: " + unexpected + " (running without the bean and events)");
        }
    }
}
