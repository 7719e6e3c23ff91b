package terrace.workloads;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Lengths of arrays in the order in which the workload {@code sizes} allocates them, over and over.
 *
 * @param sequence the lengths
 * @param description as the user wrote them
 */
record Lengths(int[] sequence, String description) {
    /** Lengths in a mixture: with fewer, single large ones would decide what a mixture wastes. */
    static final int MIXTURE = 4096;

    /** The largest array. */
    static final int LONGEST = 1 << 30;

    private static final int MOST_REPEATS = 1_000_000;
    private static final long SEED = 20_261_122;

    /** Arrays of one length. */
    static Lengths one(int length) {
        return new Lengths(new int[] {length}, Integer.toString(length));
    }

    /** {@code 100000,64x20}: one array of 100,000 bytes, then twenty of 64. */
    static Lengths list(String text) throws UsageException {
        List<Integer> all = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            int times = part.indexOf('x');
            String size = times < 0 ? part : part.substring(0, times);
            int repeats = times < 0 ? 1 : repeats(text, part.substring(times + 1));
            int length = length("--sizes", text, size);
            for (int i = 0; i < repeats; i++) {
                all.add(length);
            }
            if (all.size() > MOST_REPEATS) {
                throw refused("--sizes", text);
            }
        }
        return new Lengths(all.stream().mapToInt(Integer::intValue).toArray(), text);
    }

    /** {@code 16..200k}: log-uniform between the two, the same sequence on every run and every JVM. */
    static Lengths mixture(String text) throws UsageException {
        int dots = text.indexOf("..");
        if (dots < 0) {
            throw refused("--mixture", text);
        }
        int least = length("--mixture", text, text.substring(0, dots));
        int most = length("--mixture", text, text.substring(dots + 2));
        if (least < 1 || least >= most) {
            throw refused("--mixture", text);
        }
        SplittableRandom random = new SplittableRandom(SEED);
        double low = StrictMath.log(least);
        double range = StrictMath.log(most) - low;
        int[] sequence = new int[MIXTURE];
        for (int i = 0; i < sequence.length; i++) {
            sequence[i] = (int) Math.min(most, StrictMath.round(StrictMath.exp(low + random.nextDouble() * range)));
        }
        return new Lengths(sequence, text);
    }

    private static int repeats(String text, String number) throws UsageException {
        try {
            int repeats = Integer.parseInt(number);
            if (repeats >= 1 && repeats <= MOST_REPEATS) {
                return repeats;
            }
        } catch (NumberFormatException e) {
            // Reported below, like a number out of range.
        }
        throw refused("--sizes", text);
    }

    private static int length(String option, String text, String size) throws UsageException {
        long length = Options.bytes(size);
        if (length < 0 || length > LONGEST) {
            throw refused(option, text);
        }
        return (int) length;
    }

    private static UsageException refused(String option, String text) {
        return new UsageException(
                option.equals("--sizes")
                        ? "--sizes " + text + " is not a list of sizes: write bytes with repeats, such as 100000,64x20"
                        : "--mixture " + text + " is not a range of sizes: write two of them, such as 16..200k");
    }
}
