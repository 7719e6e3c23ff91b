package terrace.applications;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StretchesTest {
    @Test
    void timesAreKeptApartByNumberAndNothingOutsideOfStretches() {
        Stretches stretches = new Stretches();
        for (int i = 0; i < 100; i++) {
            stretches.record(2, 3_000_000);
            stretches.record(1, i < 99 ? 1_000_000 : 5_000_000);
        }
        stretches.record(0, 1_000_000);
        stretches.record(1_000, 1_000_000);
        stretches.record(3, Long.MAX_VALUE);
        List<Map<String, Object>> found = stretches.percentiles();
        assertEquals(List.of(1, 2, 3), found.stream().map(one -> one.get("stretch")).toList());
        assertEquals(100L, found.get(0).get("timed_operations"));
        assertEquals(5.0, (double) found.get(0).get("longest_ms"), 0.01);
        assertEquals(3.0, (double) found.get(1).get("p50_ms"), 0.01);
        assertEquals(60_000, (double) found.get(2).get("longest_ms"), 60);
    }
}
