package terrace;

import java.lang.instrument.Instrumentation;

/**
 * What the JVM calls for {@code -javaagent:terrace.jar=options}.
 *
 * <p>Compiled for Java 8, which all other classes are too new for: a JVM that cannot load this class ends at its start. Public for {@code java.instrument} alone, which
 * cannot call another one in a named module.
 */
@SuppressWarnings("exports") // Who calls it has java.instrument; a program without it needs none.
public final class Agent {
    /** What the other classes are compiled for. */
    private static final int OLDEST = 11;

    private Agent() {}

    /**
     * Before the program's main class.
     *
     * @param options what follows the jar's name, or null
     * @param instrumentation tells when the JVM loads the classes of JMX and of the Flight Recorder
     */
    public static void premain(String options, Instrumentation instrumentation) {
        String version = System.getProperty("java.specification.version");
        if (isTooOld(version)) {
            goOnWithout(refusal(version), options, true);
        } else {
            Installer.begin(options, instrumentation, Native.AT_START);
        }
    }

    /**
     * In a running JVM ({@code jcmd PID JVMTI.agent_load terrace.jar}).
     *
     * @param options as for {@link #premain}
     * @param instrumentation as for {@link #premain}
     */
    public static void agentmain(String options, Instrumentation instrumentation) {
        String version = System.getProperty("java.specification.version");
        if (isTooOld(version)) {
            goOnWithout(refusal(version), options, false);
        } else {
            Installer.begin(options, instrumentation, Native.ALOUD);
        }
    }

    /** Whether a Java of this version, such as 1.8, 9 or 25, does not have what the other classes need. One that nobody knows is tried. */
    static boolean isTooOld(String version) {
        try {
            return version != null && (version.startsWith("1.") || Integer.parseInt(version) < OLDEST);
        } catch (NumberFormatException unknown) {
            return false;
        }
    }

    private static String refusal(String version) {
        return "Java " + version + " is not supported: use JDK " + OLDEST + " or later";
    }

    /** Says why there are no buffers. At the start of a program that wants them at any price, it does not start. */
    static void goOnWithout(String reason, String options, boolean atStart) {
        boolean ends = atStart && isStrict(options);
        System.err.println("terrace: " + reason + (ends ? " (strict=true: not starting)" : " (running without buffers)"));
        if (ends) {
            // Not exit: the program has not begun, and has nothing to put in order.
            Runtime.getRuntime().halt(1);
        }
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
}
