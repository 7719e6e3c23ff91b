package terrace;

import java.lang.instrument.Instrumentation;

/** What the JVM calls for {@code -javaagent:terrace.jar=options}. */
final class Agent {
    private Agent() {}

    /** Before the program's main class. */
    public static void premain(String options, Instrumentation instrumentation) {
        begin(options, instrumentation, Native.AT_START);
    }

    /** In a running JVM ({@code jcmd PID JVMTI.agent_load terrace.jar}). */
    public static void agentmain(String options, Instrumentation instrumentation) {
        begin(options, instrumentation, Native.ALOUD);
    }

    /** As the library reads it, which is not there to ask. */
    static boolean isStrict(String options) {
        boolean strict = false;
        for (String option : options == null ? new String[0] : options.split(",")) {
            if (option.startsWith("strict=")) {
                strict = option.equals("strict=true") || option.equals("strict=on");
            }
        }
        return strict;
    }

    private static void begin(String options, Instrumentation instrumentation, int manner) {
        // Whatever left this would end the JVM.
        String missing;
        try {
            missing = Terrace.install(options == null ? "" : options, manner).missing();
        } catch (Throwable unexpected) {
            missing = unexpected.toString();
        }
        if (missing != null) {
            boolean ends = manner == Native.AT_START && isStrict(options);
            System.err.println("terrace: " + missing + (ends ? " (strict=true: not starting)" : " (running without buffers)"));
            if (ends) {
                // Not exit: the program has not begun, and has nothing to put in order.
                Runtime.getRuntime().halt(1);
            }
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
