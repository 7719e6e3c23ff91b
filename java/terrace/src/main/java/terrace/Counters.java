package terrace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * The counters since the installation.
 *
 * <p>Counters have the names of the report and of {@code terrace status}; those that end with {@code _bytes} are bytes, all others are events. Each value is
 * exact, but the values of one reading do not form an atomic snapshot, because threads continue to count.
 */
public final class Counters {
    /** Nothing was installed, so nothing was counted. */
    static final Counters NONE = new Counters(new String[0], new String[0], new long[] {0, 0});

    private static final int HEADER = 2;
    private static final int LEVEL_HEADER = 3;

    private final long pauses;
    private final long parsability;
    private final List<String> names;
    private final List<Level> levels;

    Counters(String[] counterNames, String[] levelNames, long[] numbers) {
        names = Collections.unmodifiableList(Arrays.asList(counterNames));
        pauses = numbers[0];
        parsability = numbers[1];
        List<Level> found = new ArrayList<>();
        int at = HEADER;
        for (String name : levelNames) {
            int domains = (int) numbers[at];
            int end = at + LEVEL_HEADER + domains * counterNames.length;
            found.add(new Level(name, names, Arrays.copyOfRange(numbers, at, end)));
            at = end;
        }
        if (at != numbers.length) {
            throw new IllegalArgumentException("counters of other levels");
        }
        levels = Collections.unmodifiableList(found);
    }

    /** {@return pauses of the collector} */
    public long pauses() {
        return pauses;
    }

    /** {@return how often the heap was made parsable, within collections and outside} */
    public long parsability() {
        return parsability;
    }

    /** {@return the names of the counters, in the order of the report} */
    public List<String> names() {
        return names;
    }

    /** {@return the levels, starting with the one closest to the threads; one named {@code observed} where there are no buffers ({@code levels=none})} */
    public List<Level> levels() {
        return levels;
    }

    /**
     * {@return the sum of a counter over all levels and domains}
     *
     * @param name one of {@link #names}
     */
    public long total(String name) {
        return levels.stream().mapToLong(level -> level.total(name)).sum();
    }

    /** One level: buffers of one size, one for each domain. */
    public static final class Level {
        private final String name;
        private final List<String> names;
        private final long[] numbers;

        private Level(String name, List<String> names, long[] numbers) {
            this.name = name;
            this.names = names;
            this.numbers = numbers;
        }

        /** {@return {@code core}, {@code processor}, {@code thread} (only for the bound) or {@code observed}} */
        public String name() {
            return name;
        }

        /** {@return the number of domains: cores, or processors} */
        public int domains() {
            return (int) numbers[0];
        }

        /** {@return the current size of a buffer in bytes; 0 if there are no buffers} */
        public long bufferBytes() {
            return numbers[1];
        }

        /** {@return the bytes that all buffers of the level currently hold} */
        public long remainingBytes() {
            return numbers[2];
        }

        /**
         * {@return the value of a counter in one domain}
         *
         * @param domain from 0 to {@link #domains} - 1
         * @param counter one of {@link Counters#names}
         */
        public long get(int domain, String counter) {
            if (domain < 0 || domain >= domains()) {
                throw new IndexOutOfBoundsException("domain " + domain + " of " + domains());
            }
            int at = names.indexOf(counter);
            if (at < 0) {
                throw new IllegalArgumentException("unknown counter " + counter + ": use one of " + String.join(", ", names));
            }
            return numbers[LEVEL_HEADER + domain * names.size() + at];
        }

        /**
         * {@return the sum of a counter over all domains}
         *
         * @param counter one of {@link Counters#names}
         */
        public long total(String counter) {
            long sum = 0;
            for (int domain = 0; domain < domains(); domain++) {
                sum += get(domain, counter);
            }
            return sum;
        }
    }
}
