package terrace.jfr;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;

/**
 * A refill that has taken long. It is written later than it happened and by another thread, so that its times are set: JFR gives every class of events the fields
 * {@code startTime} and {@code duration}, in ticks of its own clock.
 */
@Name("terrace.Refill")
@Label("Slow Refill")
@Description("A buffer, or a thread, got memory from a level above or from the heap, and it took at least the threshold")
@Category("Terrace")
@Enabled(false)
@Period("1 s")
@StackTrace(false)
final class Refill extends Event {
    private static final VarHandle START = ofJfr("startTime");
    private static final VarHandle DURATION = ofJfr("duration");

    @Label("Thread")
    @Description("The thread that refilled; of a virtual thread its carrier. None if it has ended since")
    Thread thread;

    @Label("OS Thread Id")
    long osThreadId;

    @Label("CPU")
    @Description("The CPU on which it ended")
    int cpu;

    @Label("Level")
    @Description("Whose buffer was refilled: core or processor; thread, if HotSpot served a TLAB alone")
    String level;

    @Label("Source")
    @Description("What served it: processor or heap")
    String source;

    @Label("Direct")
    @Description("No buffer of the level could serve the request, which was handed on as it is")
    boolean direct;

    @Label("Memory")
    @Description("What it got; 0 if there was nothing to be had")
    @DataAmount
    long memory;

    @Label("Waited For")
    @Description("collection: a pause of the collector began meanwhile. heap lock: HotSpot's lock of the heap was taken; whether another thread held it is not known. unknown: "
            + "neither. No refill waits for another one's thread")
    String waitedFor;

    private static VarHandle ofJfr(String field) {
        try {
            return MethodHandles.lookup().findVarHandle(Refill.class, field, long.class);
        } catch (ReflectiveOperationException elsewhere) {
            return null;
        }
    }

    /** Whether times can be set in this JVM. */
    static boolean isPossible() {
        return START != null && DURATION != null;
    }

    /** A moment of JFR's clock; 0 if JFR is not at work. */
    static long now() {
        Refill moment = new Refill();
        moment.begin();
        return (long) START.get(moment);
    }

    void took(long start, long duration) {
        START.set(this, start);
        // 0 would be the time up to the commit.
        DURATION.set(this, Math.max(1, duration));
    }
}
