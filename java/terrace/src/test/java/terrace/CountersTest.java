package terrace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class CountersTest {
    private static final String[] NAMES = {"refills", "refill_bytes"};

    @Test
    void levelsAndDomainsAreInTheirOrder() {
        Counters counters = new Counters(NAMES, new String[] {"core", "processor"}, new long[] {3, 4, 2, 65536, 100, 1, 10, 2, 20, 1, 1048576, 0, 5, 50});
        assertEquals(3, counters.pauses());
        assertEquals(4, counters.parsability());
        assertEquals(List.of(NAMES), counters.names());
        Counters.Level core = counters.levels().get(0);
        assertEquals(2, core.domains());
        assertEquals(65536, core.bufferBytes());
        assertEquals(100, core.remainingBytes());
        assertEquals(20, core.get(1, "refill_bytes"));
        assertEquals(3, core.total("refills"));
        assertEquals("processor", counters.levels().get(1).name());
        assertEquals(8, counters.total("refills"));
        LevelCounters shown = LevelCounters.of(counters, core);
        assertEquals(30L, shown.getTotal().get("refill_bytes"));
        assertEquals(2L, shown.getDomains().get(1).get("refills"));
    }

    @Test
    void mistakesNameWhatThereIs() {
        Counters counters = new Counters(NAMES, new String[] {"core"}, new long[] {0, 0, 1, 8, 0, 1, 2});
        String said = assertThrows(IllegalArgumentException.class, () -> counters.total("refils")).getMessage();
        assertEquals("unknown counter refils: use one of refills, refill_bytes", said);
        assertThrows(IndexOutOfBoundsException.class, () -> counters.levels().get(0).get(1, "refills"));
        assertThrows(IllegalArgumentException.class, () -> new Counters(NAMES, new String[] {"core"}, new long[] {0, 0, 1, 8, 0, 1, 2, 9}));
    }

    @Test
    void nothingIsCountedWhereNothingIs() {
        assertEquals(List.of(), Counters.NONE.levels());
        assertEquals(0, Counters.NONE.total("refills"));
    }
}
