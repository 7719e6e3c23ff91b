/**
 * Fills the heap with one growing list of arrays of so many references, and ends with the error caught and the heap full. So many KB of
 * garbage come before it.
 */
public final class Exhaust {
    private static Object[] list;
    /** G1 needs whole regions. */
    private static byte[][] reserve = new byte[192][16 << 10];

    /** How much of what fills eden is live decides where the last objects lie in a region of Parallel's. */
    private static byte[] garbage;

    private Exhaust() {}

    public static void main(String[] args) {
        int words = Integer.parseInt(args[0]);
        for (int kilobytes = Integer.parseInt(args[1]); kilobytes > 0; kilobytes--) {
            garbage = new byte[1008];
        }
        try {
            while (true) {
                Object[] element = new Object[words];
                element[0] = list;
                list = element;
            }
        } catch (OutOfMemoryError error) {
            reserve = null;
        }
        System.exit(0);
    }
}
