/** Fills the heap with one growing list of arrays of so many references, and ends with the error caught and the heap full. */
public final class Exhaust {
    private static Object[] list;
    /** G1 needs whole regions. */
    private static byte[][] reserve = new byte[192][16 << 10];

    private Exhaust() {}

    public static void main(String[] args) {
        int words = Integer.parseInt(args[0]);
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
