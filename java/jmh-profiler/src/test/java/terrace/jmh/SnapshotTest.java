package terrace.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SnapshotTest {
    private static final String[] COUNTERS = {"buffers", "objects", "stolen", "direct", "passed", "missed", "refills"};

    private static String domain(int... values) {
        return IntStream.range(0, COUNTERS.length)
                .mapToObj(i -> "\"" + COUNTERS[i] + "\": " + values[i])
                .collect(Collectors.joining(", ", "{", "}"));
    }

    private static final String NOTHING = domain(0, 0, 0, 0, 0, 0, 0);

    private static String level(String name, String... domains) {
        return "{\"name\": \"" + name + "\", \"domains\": [" + String.join(",", domains) + "]}";
    }

    private static Snapshot status(String state, int pauses, int served, int waste, String more, String... levels) {
        return new Snapshot("{\"state\": \"" + state + "\", \"message\": \"so \\\"it\\\" is\", \"pauses\": " + pauses
                + ", \"served_bytes\": " + served + ", \"waste\": {\"refill_bytes\": " + waste
                + ", \"collection_bytes\": 0, \"alignment_bytes\": 1, \"of_bytes\": 7}," + more + " \"levels\": ["
                + String.join(",", levels) + "]}\n");
    }

    @Test
    void figuresAreDifferencesForEachOperation() throws Exception {
        Snapshot begin = status("installed", 3, 100, 10, "", level("core", domain(1, 1, 1, 1, 1, 1, 1)));
        String after = level("core", domain(11, 1, 1, 3, 1, 2, 4), domain(0, 0, 0, 0, 0, 0, 1));
        Snapshot end = status("installed", 5, 1100, 30, "", after);
        Map<Figure, Double> figures = begin.until(end, 1000);
        assertEquals(13_000, figures.get(Figure.REFILLS), "10 buffers, 2 direct, 1 missed");
        assertEquals(7_000, figures.get(Figure.HEAP), "4 refills, 2 direct, 1 missed");
        assertEquals(1, figures.get(Figure.BYTES));
        assertEquals(0.02, figures.get(Figure.WASTE));
        assertEquals(2_000, figures.get(Figure.PAUSES));
        assertTrue(!figures.containsKey(Figure.REFILL_TIME));
    }

    @Test
    void betweenLevelsTheHeapIsNotAsked() throws Exception {
        String core = level("core", domain(100, 0, 0, 7, 0, 2, 20));
        String[] idle = {level("core", NOTHING), level("processor", NOTHING)};
        Snapshot begin = status("installed", 0, 0, 0, "", idle);
        Snapshot end = status("installed", 0, 0, 0, "", core, level("processor", domain(26, 0, 0, 1, 0, 0, 3)));
        Map<Figure, Double> figures = begin.until(end, 1_000_000);
        assertEquals(109, figures.get(Figure.REFILLS));
        assertEquals(6, figures.get(Figure.HEAP), "the processor's 3 refills and 1 direct, 2 objects missed by the core's");
    }

    @Test
    void timesAreThereWhereTheyAreTaken() throws Exception {
        String times = "\"times\": {\"tlabs\": {\"all\": {\"total_ns\": %d}, \"quick\": {\"total_ns\": 5}},"
                + " \"objects\": {\"all\": {\"total_ns\": 1}}},";
        String none = level("none", NOTHING);
        Snapshot begin = status("observing", 0, 0, 0, String.format(times, 100), none);
        Snapshot end = status("observing", 0, 0, 0, String.format(times, 300), none);
        assertEquals(2, begin.until(end, 100).get(Figure.REFILL_TIME));
    }

    @Test
    void anAgentThatRefusedHasNoFigures() {
        Snapshot refused = status("refused", 0, 0, 0, "", level("core", NOTHING));
        String line = assertThrows(IOException.class, () -> refused.until(refused, 1)).getMessage();
        assertEquals("the agent is refused: so \"it\" is", line);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", "{", "{}", "[1", "{\"a\" 1}", "{\"a\": }", "\"\\", "{} x", "{\"state\": \"installed\"}",
        "{\"a\": [1 2]}", "{\"state\": \"installed\", \"levels\": [{\"domains\": [{\"buffers\": null}]}]}"
    })
    void whatIsNoStatusIsOneLine(String text) {
        Snapshot snapshot = new Snapshot(text);
        String line = assertThrows(IOException.class, () -> snapshot.until(snapshot, 1)).getMessage();
        assertEquals(1, line.lines().count(), line);
    }
}
