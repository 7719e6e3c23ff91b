package terrace.workloads;

/** Small objects linked to one another, as a request or a task leaves them behind. */
final class Chain {
    /** Bytes of a link with compressed references: header 12, reference 4, value 8. */
    static final int LINK_BYTES = 24;

    private final Chain next;
    private final long value;

    /** Final fields set in the constructor: storing into a new object needs no card mark. */
    private Chain(Chain next, long value) {
        this.next = next;
        this.value = value;
    }

    /** The links that about {@code bytes} bytes make. */
    static int links(int bytes) {
        return Math.max(1, bytes / LINK_BYTES);
    }

    /** Makes {@code links} links with the values {@code seed}, {@code seed + 1}, ... */
    static Chain make(int links, long seed) {
        Chain chain = null;
        for (int i = 0; i < links; i++) {
            chain = new Chain(chain, seed + i);
        }
        return chain;
    }

    /** Walks the chain: values are weighted by their position, so that order and length count. */
    static long checksum(Chain chain) {
        long sum = 0;
        long position = 1;
        for (Chain link = chain; link != null; link = link.next) {
            sum += link.value * position++;
        }
        return sum;
    }

    /** What {@link #checksum} must give, without walking anything. */
    static long expectedChecksum(int links, long seed) {
        // The link at position p (from 1, the last made first) holds seed + n - p:
        // sum of p * (seed + n - p) = (seed + n) * n(n+1)/2 - n(n+1)(2n+1)/6.
        long n = links;
        // Overflows as the sum does, but for the divisions, which come first: n(n+1)/2 fits, and one of it and 2n+1 is a multiple of 3.
        long half = n * (n + 1) / 2;
        long squares = half % 3 == 0 ? half / 3 * (2 * n + 1) : half * ((2 * n + 1) / 3);
        return (seed + n) * half - squares;
    }

    /** Complains unless {@code found} is the checksum of such a chain. */
    static void check(long found, int links, long seed) throws CheckException {
        long expected = expectedChecksum(links, seed);
        if (found != expected) {
            throw new CheckException(
                    "a chain of " + links + " objects has checksum " + found + " instead of " + expected);
        }
    }
}
