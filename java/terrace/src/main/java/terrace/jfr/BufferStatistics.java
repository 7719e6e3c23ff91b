package terrace.jfr;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import terrace.Counters;

@Name("terrace.BufferStatistics")
@Label("Buffer Statistics")
@Description("Counters of a level's allocation buffers since their installation: sums over all domains")
@Category("Terrace")
@Period("1 s")
@StackTrace(false)
final class BufferStatistics extends Event {
    @Label("Level")
    @Description("core, processor, or observed if there are no buffers")
    String level;

    @Label("Domains")
    @Description("Number of cores or processors, each with its own buffer")
    int domains;

    @Label("Buffer Size")
    @DataAmount
    long bufferSize;

    @Label("Remaining")
    @Description("Held by the buffers and not yet handed out")
    @DataAmount
    long remaining;

    @Label("Refills")
    @Description("Number of times that a buffer obtained memory from the level above or the heap")
    long refills;

    @Label("Refilled")
    @Description("Memory obtained by these refills")
    @DataAmount
    long refilled;

    @Label("Requests Served")
    @Description("Requests for a TLAB, or for a buffer of the level below, served by the domain's own buffer")
    long served;

    @Label("Memory Served")
    @DataAmount
    long servedMemory;

    @Label("Objects Served")
    @Description("Objects outside TLABs that a buffer served")
    long objects;

    @Label("Memory of Objects Served")
    @DataAmount
    long objectMemory;

    @Label("Waste at Refills")
    @Description("Buffer tails that were given up for a refill")
    @DataAmount
    long wasteAtRefills;

    @Label("Waste at Collections")
    @Description("Buffer tails that were given up for a collection or a heap walk")
    @DataAmount
    long wasteAtCollections;

    @Label("Waste by Alignment")
    @DataAmount
    long wasteByAlignment;

    @Label("Foreign")
    @Description("Requests whose thread had left the domain when they were served")
    long foreign;

    @Label("Stolen")
    @Description("Requests that another domain's buffer served")
    long stolen;

    @Label("Memory Stolen")
    @DataAmount
    long stolenMemory;

    @Label("Direct")
    @Description("Requests that no buffer of the level could serve, handed on to the level above or the heap")
    long direct;

    @Label("Memory of Direct Requests")
    @DataAmount
    long directMemory;

    @Label("Passed")
    @Description("Requests that HotSpot served, because buffers were off or not installed")
    long passed;

    @Label("Memory Passed")
    @DataAmount
    long passedMemory;

    @Label("Missed")
    @Description("Objects that were allocated in the heap although buffers were on")
    long missed;

    @Label("Memory Missed")
    @DataAmount
    long missedMemory;

    static void commit(Counters.Level counted) {
        BufferStatistics event = new BufferStatistics();
        event.level = counted.name();
        event.domains = counted.domains();
        event.bufferSize = counted.bufferBytes();
        event.remaining = counted.remainingBytes();
        event.refills = counted.total("refills");
        event.refilled = counted.total("refill_bytes");
        event.served = counted.total("buffers");
        event.servedMemory = counted.total("buffer_bytes");
        event.objects = counted.total("objects");
        event.objectMemory = counted.total("object_bytes");
        event.wasteAtRefills = counted.total("waste_refill_bytes");
        event.wasteAtCollections = counted.total("waste_collection_bytes");
        event.wasteByAlignment = counted.total("waste_alignment_bytes");
        event.foreign = counted.total("foreign");
        event.stolen = counted.total("stolen");
        event.stolenMemory = counted.total("stolen_bytes");
        event.direct = counted.total("direct");
        event.directMemory = counted.total("direct_bytes");
        event.passed = counted.total("passed");
        event.passedMemory = counted.total("passed_bytes");
        event.missed = counted.total("missed");
        event.missedMemory = counted.total("missed_bytes");
        event.commit();
    }
}
