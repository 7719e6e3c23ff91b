package terrace.jfr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

final class SettingsTest {
    @Test
    void settingsAreFoundInTheLibrarysText() {
        String json = "{\"terrace\":\"0.1.0\",\"levels\":\"core+processor\",\"core_bytes\":65536,\"automatic\":false,\"machine\":\"a \\\"b\\\" c\"}";
        assertEquals("core+processor", Settings.value(json, "levels"));
        assertEquals("65536", Settings.value(json, "core_bytes"));
        assertEquals("false", Settings.value(json, "automatic"));
        assertEquals("a \"b\" c", Settings.value(json, "machine"));
        assertNull(Settings.value(json, "bytes"));
        assertNull(Settings.value("", "levels"));
    }

    @Test
    void timesAreReadAsJfrWritesThem() {
        assertEquals(0, Recordings.nanos("0 ns"));
        assertEquals(150, Recordings.nanos("150ns"));
        assertEquals(20_000_000, Recordings.nanos("20 ms"));
        assertEquals(3_600_000_000_000L, Recordings.nanos("1 h"));
        // What is not understood must not keep a refill from a recording that wants it.
        assertEquals(0, Recordings.nanos("soon"));
        assertEquals(0, Recordings.nanos(null));
        assertEquals(Long.MAX_VALUE, Recordings.nanos("99999999999999999999 s"));
    }
}
