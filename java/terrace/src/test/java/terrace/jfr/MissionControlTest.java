package terrace.jfr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.Recording;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jmc.common.IDescribable;
import org.openjdk.jmc.common.item.IAccessorKey;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.common.item.IMemberAccessor;
import org.openjdk.jmc.common.item.IType;
import org.openjdk.jmc.common.item.ItemFilters;
import org.openjdk.jmc.common.unit.IQuantity;
import org.openjdk.jmc.common.unit.UnitLookup;
import org.openjdk.jmc.flightrecorder.JfrAttributes;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;
import terrace.Counters;
import terrace.Made;

/** What JDK Mission Control makes of the events: it is its own library that reads the recording. */
final class MissionControlTest {
    private static final long CORE_BYTES = 65_536;

    private static IItemCollection recorded;

    @BeforeAll
    static void record(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("events.jfr");
        try (Recording recording = new Recording()) {
            for (Class<? extends jdk.jfr.Event> type : List.of(BufferStatistics.class, Settings.class, Refill.class, RefillLoss.class)) {
                recording.enable(type).withoutThreshold();
            }
            recording.start();
            Counters counters = Made.counters(CORE_BYTES, 100);
            counters.levels().forEach(BufferStatistics::commit);
            Settings.commit(Made.off(), counters);
            Refill refill = new Refill();
            refill.thread = Thread.currentThread();
            refill.level = "core";
            refill.source = "heap";
            refill.memory = CORE_BYTES;
            refill.took(Refill.now(), 1_000);
            refill.commit();
            RefillLoss loss = new RefillLoss();
            loss.lost = 3;
            loss.commit();
            recording.stop();
            recording.dump(file);
        }
        recorded = JfrLoaderToolkit.loadEvents(file.toFile());
    }

    /** The only event of a type. */
    private static Read read(String name) {
        IItemCollection found = recorded.apply(ItemFilters.type(name));
        Iterator<IItemIterable> types = found.iterator();
        assertTrue(types.hasNext(), name);
        IItemIterable events = types.next();
        assertEquals(1, events.getItemCount(), name);
        return new Read(events.getType(), events.iterator().next());
    }

    private static final class Read {
        final IType<IItem> type;
        final IItem event;
        /** By their labels. */
        final Map<String, IAccessorKey<?>> fields = new TreeMap<>();

        Read(IType<IItem> type, IItem event) {
            this.type = type;
            this.event = event;
            for (Map.Entry<IAccessorKey<?>, ? extends IDescribable> field : type.getAccessorKeys().entrySet()) {
                fields.put(field.getValue().getName(), field.getKey());
            }
        }

        Object value(String label) {
            IAccessorKey<?> key = fields.get(label);
            assertNotNull(key, () -> label + " is none of " + fields.keySet());
            IMemberAccessor<?, IItem> accessor = type.getAccessor(key);
            return accessor.getMember(event);
        }

        long bytes(String label) {
            return ((IQuantity) value(label)).clampedLongValueIn(UnitLookup.BYTE);
        }
    }

    @Test
    void statisticsHaveLabelsAndMemoryIsMemory() {
        Read statistics = read("terrace.BufferStatistics");
        assertEquals("Buffer Statistics", statistics.type.getName());
        assertFalse(statistics.type.getDescription().isEmpty());
        assertEquals("core", statistics.value("Level"));
        assertEquals(CORE_BYTES, statistics.bytes("Buffer Size"));
        assertEquals(100, statistics.bytes("Remaining"));
        assertEquals(2, statistics.bytes("Refilled"));
        assertEquals(7, statistics.bytes("Waste at Refills"));
        assertEquals(1L, statistics.value("Refills"));
        for (String label : new String[] {"Memory Served", "Memory of Objects Served", "Waste at Collections", "Waste by Alignment", "Memory Stolen", "Memory of Direct Requests",
            "Memory Passed", "Memory Missed"}) {
            assertEquals(UnitLookup.MEMORY, statistics.fields.get(label).getContentType(), label);
        }
    }

    @Test
    void aRefillHasItsDurationAndItsThread() {
        Read refill = read("terrace.Refill");
        assertEquals("Slow Refill", refill.type.getName());
        IQuantity duration = JfrAttributes.DURATION.getAccessor(refill.type).getMember(refill.event);
        assertTrue(duration.clampedLongValueIn(UnitLookup.NANOSECOND) > 0, duration::toString);
        assertEquals(CORE_BYTES, refill.bytes("Memory"));
        assertTrue(String.valueOf(refill.value("Thread")).contains(Thread.currentThread().getName()));
    }

    @Test
    void settingsAndLossesAreRead() {
        Read settings = read("terrace.Settings");
        assertEquals(CORE_BYTES, settings.bytes("Core Buffer Size"));
        assertEquals(Boolean.FALSE, settings.value("On"));
        assertEquals("G1", settings.value("Collector"));
        assertEquals("Slow Refills Lost", read("terrace.RefillLoss").type.getName());
    }
}
