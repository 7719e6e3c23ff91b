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
@Description("A buffer, or a thread, obtained memory from a level above or from the heap, and this took at least the threshold")
@Category("Terrace")
@Enabled(false)
@Period("1 s")
@StackTrace(false)
final class Refill extends Event {
    private static final VarHandle START = ofJfr("startTime");
    private static final VarHandle DURATION = ofJfr("duration");

    @Label("Thread")
    @Description("The thread that refilled; the carrier of a virtual thread. Empty if it has ended since")
    Thread thread;

    @Label("OS Thread Id")
    long osThreadId;

    @Label("CPU")
    @Description("The CPU on which the refill ended")
    int cpu;

    @Label("Level")
    @Description("Level of the buffer that was refilled: core or processor; thread, if HotSpot served a TLAB")
    String level;

    @Label("Source")
    @Description("Level that served the refill: processor or heap")
    String source;

    @Label("Direct")
    @Description("No buffer of the level could serve the request, which was passed on unchanged")
    boolean direct;

    @Label("Memory")
    @Description("Memory obtained; 0 if none was available")
    @DataAmount
    long memory;

    @Label("Waited For")
    @Description("collection: a pause of the collector began meanwhile. heap lock: HotSpot's heap lock was taken; whether another thread held it is unknown. unknown: "
            + "neither. No refill waits for the thread of another refill")
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
