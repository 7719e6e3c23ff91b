package terrace.jmh;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;

/** What {@code terrace status} says at one moment. It is read only when it is compared, so that it disturbs no measurement. */
final class Snapshot {
    private static final double MILLION = 1e6;

    private final String text;

    Snapshot(String text) {
        this.text = text;
    }

    /** What was counted until then, for each operation. */
    Map<Figure, Double> until(Snapshot end, long operations) throws IOException {
        Map<Figure, Double> begin = figures();
        Map<Figure, Double> figures = end.figures();
        figures.replaceAll((figure, value) -> {
            boolean rare = figure.unit().endsWith("Mop");
            return (value - begin.getOrDefault(figure, 0.0)) * (rare ? MILLION : 1) / operations;
        });
        return figures;
    }

    private Map<Figure, Double> figures() throws IOException {
        Map<String, String> status = Json.read(text);
        String state = status.get("state");
        if (!"installed".equals(state) && !"observing".equals(state)) {
            throw new IOException("the agent is " + state + ": " + status.get("message"));
        }
        int last = 0;
        while (status.containsKey("levels." + (last + 1) + ".name")) {
            last++;
        }
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.REFILLS, sum(status, "levels\\.0\\..*\\.(buffers|objects|stolen|direct|passed|missed)"));
        // What the last level is short of, the heap supplies, and what went past the levels.
        String supplied = "levels\\." + last + "\\..*\\.(refills|direct)";
        figures.put(Figure.HEAP, sum(status, supplied + "|levels\\..*\\.(passed|missed)"));
        figures.put(Figure.BYTES, sum(status, "served_bytes"));
        figures.put(Figure.WASTE, sum(status, "waste\\.(refill|collection|alignment)_bytes"));
        figures.put(Figure.PAUSES, sum(status, "pauses"));
        String times = "times\\.(tlabs|objects)\\.all\\.total_ns";
        if (status.keySet().stream().anyMatch(name -> name.matches(times))) {
            figures.put(Figure.REFILL_TIME, sum(status, times));
        }
        return figures;
    }

    /** The sum of all whose names are like that. */
    private static double sum(Map<String, String> status, String names) throws IOException {
        double sum = 0;
        boolean found = false;
        for (Map.Entry<String, String> entry : status.entrySet()) {
            if (entry.getKey().matches(names)) {
                found = true;
                sum += number(entry.getValue());
            }
        }
        if (!found) {
            throw new IOException("'terrace status' does not report " + names + ": use one release for all parts of Terrace");
        }
        return sum;
    }

    private static double number(String text) throws IOException {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException error) {
            throw new IOException("'terrace status' says '" + text + "' where a number was expected", error);
        }
    }
}
