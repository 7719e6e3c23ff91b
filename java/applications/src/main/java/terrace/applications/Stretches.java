package terrace.applications;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.HdrHistogram.AtomicHistogram;

/**
 * Times of operations by the stretch of time that whoever watches had begun, such as a window with buffers or one without. Stretches
 * may have the same number; an operation belongs to that in which it began.
 */
final class Stretches {
    /** Numbers from here on are not told apart. */
    private static final int MOST = 64;

    private final AtomicReferenceArray<AtomicHistogram> times = new AtomicReferenceArray<>(MOST);

    /** One for all threads: an operation takes far longer than to count it. */
    void record(long stretch, long nanos) {
        if (stretch > 0 && stretch < MOST) {
            of((int) stretch).recordValue(Math.min(nanos, Timed.USUAL));
        }
    }

    private AtomicHistogram of(int stretch) {
        AtomicHistogram found = times.get(stretch);
        if (found != null) {
            return found;
        }
        AtomicHistogram made = new AtomicHistogram(Timed.LEAST, Timed.USUAL, Timed.DIGITS);
        return times.compareAndSet(stretch, null, made) ? made : times.get(stretch);
    }

    /** Those that had operations, in order. */
    List<Map<String, Object>> percentiles() {
        List<Map<String, Object>> all = new ArrayList<>();
        for (int stretch = 0; stretch < MOST; stretch++) {
            AtomicHistogram found = times.get(stretch);
            if (found != null) {
                Map<String, Object> one = new LinkedHashMap<>();
                one.put("stretch", stretch);
                one.putAll(Timed.percentiles(found));
                all.add(one);
            }
        }
        return all;
    }
}
