import java.lang.ref.SoftReference;

/** Fills the heap until it is out of memory, with soft references to let go of first; tells how much was live then. */
public final class Exhaust extends Thread {
    private static final int SOFT = 1 << 11;
    private static volatile boolean full;

    /** A chain, not an array: no object may be so large that a collector treats it as a case of its own. */
    private static final class Piece {
        final Piece earlier;
        final byte[] bytes;
        final SoftReference<byte[]> soft;

        Piece(Piece earlier, byte[] bytes, SoftReference<byte[]> soft) {
            this.earlier = earlier;
            this.bytes = bytes;
            this.soft = soft;
        }
    }

    private Piece pieces;
    private long live;

    public static void main(String[] args) throws Exception {
        Exhaust[] threads = new Exhaust[new Arguments(args).number("threads", 4)];
        for (int number = 0; number < threads.length; number++) {
            threads[number] = new Exhaust();
        }
        for (Exhaust thread : threads) {
            thread.start();
        }
        long live = 0;
        for (Exhaust thread : threads) {
            thread.join();
            live += thread.live;
        }
        System.out.println("done live=" + live);
    }

    /** The first thread that is out of memory ends it for all: what they hold together is what counts. */
    @Override
    public void run() {
        long bytes = 0;
        try {
            for (int at = 0; !full; at++) {
                byte[] piece = new byte[64 + at % 7 * 200];
                boolean withSoft = at % 8 == 0 && at / 8 < SOFT;
                pieces = new Piece(pieces, piece, withSoft ? new SoftReference<>(new byte[512]) : null);
                bytes += 16 + piece.length;
            }
        } catch (OutOfMemoryError error) {
            full = true;
        }
        live = bytes;
        pieces = null;
    }
}
