/**
 * One thread fills the heap with one growing list, catches the OutOfMemoryError and ends with the heap still full, but for what a
 * stock JVM needs to end in good order: {@code words=60} references an element, {@code by=exit}, {@code by=return}, or {@code by=halt}, which
 * allocates nothing; {@code most=1000}: with so many elements it ends in any case, and gives nothing up before.
 */
public final class Fill {
    private static Object[] list;
    private static int elements;
    /** G1 needs whole regions. */
    private static byte[][] reserve = new byte[192][16 << 10];

    public static void main(String[] args) {
        Arguments arguments = new Arguments(args);
        int words = arguments.number("words", 60);
        int most = arguments.number("most", Integer.MAX_VALUE);
        String by = arguments.text("by", "exit");
        boolean exit = by.equals("exit");
        boolean halt = by.equals("halt");
        byte[] done = "done elements=0000000000\n".getBytes();
        try {
            fill(words, most);
        } catch (OutOfMemoryError error) {
            reserve = null;
        }
        // Without an object more.
        for (int at = done.length - 2; elements > 0; at--, elements /= 10) {
            done[at] = (byte) ('0' + elements % 10);
        }
        System.out.write(done, 0, done.length);
        System.out.flush();
        if (halt) {
            Runtime.getRuntime().halt(0);
        }
        if (exit) {
            System.exit(0);
        }
    }

    private static void fill(int words, int most) {
        while (elements < most) {
            Object[] element = new Object[words];
            element[0] = list;
            list = element;
            elements++;
        }
    }
}
