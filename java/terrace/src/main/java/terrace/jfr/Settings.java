package terrace.jfr;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import terrace.Counters;
import terrace.Status;

@Name("terrace.Settings")
@Label("Settings")
@Description("What is installed, and the current sizes, at the beginning and the end of a chunk")
@Category("Terrace")
@Period("everyChunk")
@StackTrace(false)
final class Settings extends Event {
    @Label("Version")
    String version;

    @Label("State")
    @Description("installed, observing, withdrawn, or refused")
    String state;

    @Label("On")
    @Description("Requests go through the buffers")
    boolean on;

    @Label("Levels")
    String levels;

    @Label("Core Buffer Size")
    @DataAmount
    long coreBufferSize;

    @Label("Processor Buffer Size")
    @DataAmount
    long processorBufferSize;

    @Label("Automatic Sizes")
    boolean automatic;

    @Label("TLABs")
    String tlab;

    @Label("CPU Source")
    @Description("How a thread's CPU is determined")
    String cpuSource;

    @Label("Collector")
    String collector;

    @Label("Machine")
    String machine;

    @Label("Message")
    @Description("Why nothing is installed, or what was adjusted")
    String message;

    static void commit(Status status, Counters counters) {
        Settings event = new Settings();
        String settings = status.settings();
        event.version = value(settings, "terrace");
        event.state = status.state();
        event.on = status.isOn();
        event.levels = value(settings, "levels");
        event.automatic = "true".equals(value(settings, "automatic"));
        event.tlab = value(settings, "tlab");
        event.cpuSource = value(settings, "cpu_source");
        event.collector = value(settings, "collector");
        event.machine = value(settings, "machine");
        event.message = status.message();
        for (Counters.Level level : counters.levels()) {
            if (level.name().equals("core")) {
                event.coreBufferSize = level.bufferBytes();
            } else if (level.name().equals("processor")) {
                event.processorBufferSize = level.bufferBytes();
            }
        }
        event.commit();
    }

    /** A text or a word of the settings, which are a JSON object; null if there is none. */
    static String value(String json, String key) {
        Matcher found = Pattern.compile("\"" + key + "\":(?:\"((?:[^\"\\\\]|\\\\.)*)\"|(\\w+))").matcher(json);
        if (!found.find()) {
            return null;
        }
        return found.group(2) != null ? found.group(2) : found.group(1).replaceAll("\\\\([\"\\\\])", "$1");
    }
}
