/**
 * One thread fills the heap with one growing list, catches the OutOfMemoryError and ends with the heap still full, but for what a
 * stock JVM needs to end in good order: {@code words=60} references an element, {@code by=exit} or {@code by=return}.
 */
public final class Fill {
    private static Object[] list;
    /** G1 needs whole regions. */
    private static byte[][] reserve = new byte[192][16 << 10];

    public static void main(String[] args) {
        Arguments arguments = new Arguments(args);
        int words = arguments.number("words", 60);
        boolean exit = arguments.text("by", "exit").equals("exit");
        byte[] done = "done\n".getBytes();
        try {
            fill(words);
        } catch (OutOfMemoryError error) {
            reserve = null;
        }
        System.out.write(done, 0, done.length);
        System.out.flush();
        if (exit) {
            System.exit(0);
        }
    }

    private static void fill(int words) {
        while (true) {
            Object[] element = new Object[words];
            element[0] = list;
            list = element;
        }
    }
}
