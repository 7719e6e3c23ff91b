package terrace.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

@Name("terrace.RefillLoss")
@Label("Slow Refills Lost")
@Description("Slow refills occurred faster than they were read: choose a higher threshold for terrace.Refill, or a shorter period")
@Category("Terrace")
@StackTrace(false)
final class RefillLoss extends Event {
    @Label("Lost")
    @Description("Refills without an event since the previous event of this type")
    long lost;

    @Label("Total")
    @Description("Refills without an event since the JVM's start")
    long total;
}
