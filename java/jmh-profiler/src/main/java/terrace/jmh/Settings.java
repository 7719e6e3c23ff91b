package terrace.jmh;

import java.util.Arrays;
import org.openjdk.jmh.profile.ProfilerException;

/** What stands behind the profiler's name. */
final class Settings {
    private static final String USAGE = "use library=PATH, options=KEY=VALUE,... or compare=true, with ';' between them";

    private String library = "";
    private String options = "";
    private boolean compare;

    private Settings() {}

    static Settings of(String parameters) throws ProfilerException {
        Settings settings = new Settings();
        for (String parameter : parameters.split(";")) {
            if (!parameter.isBlank()) {
                settings.take(parameter.strip());
            }
        }
        if (settings.compare && settings.hasOption("levels=none")) {
            throw new ProfilerException("terrace: levels=none has no buffers to compare: leave out compare=true");
        }
        return settings;
    }

    private void take(String parameter) throws ProfilerException {
        String value = parameter.substring(parameter.indexOf('=') + 1);
        switch (parameter.substring(0, parameter.length() - value.length())) {
            case "library=":
                library = value;
                return;
            case "options=":
                options = value;
                return;
            case "compare=":
                if (value.equals("true") || value.equals("false")) {
                    compare = value.equals("true");
                    return;
                }
                break;
            default:
        }
        throw new ProfilerException("terrace: unknown parameter '" + parameter + "': " + USAGE);
    }

    /** The path of {@code libterrace.so}; empty if none is named. */
    String library() {
        return library;
    }

    /** Whether buffers are switched on and off between iterations. */
    boolean compare() {
        return compare;
    }

    /** The agent's options; the counters are read from its control memory. */
    String agentOptions() {
        if (hasOption("control=")) {
            return options;
        }
        return options.isEmpty() ? "control=auto" : "control=auto," + options;
    }

    private boolean hasOption(String beginning) {
        return Arrays.stream(options.split(",")).anyMatch(option -> option.startsWith(beginning));
    }
}
