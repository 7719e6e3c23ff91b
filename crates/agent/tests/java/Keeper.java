import java.util.ArrayDeque;
import java.util.SplittableRandom;

/**
 * A thread's work: allocates objects of many sizes, checks that they are new (all zero), stamps every word of them, keeps some for
 * a while, and checks every word again before it lets go. Two objects at one place cannot escape it.
 */
final class Keeper {
    static volatile boolean stop;

    private final SplittableRandom random;
    private final long limit;
    private final int largest;
    private final ArrayDeque<Piece> kept = new ArrayDeque<>();
    private long keptBytes;
    private int next;
    long checked;
    long bytes;
    long exhausted;

    Keeper(int number, long limit, int largest) {
        this.random = new SplittableRandom(number);
        this.limit = limit;
        this.largest = largest;
        this.next = number << 20;
    }

    /** One kept array, stamped. */
    private static final class Piece {
        final Object array;
        final int stamp;
        final Piece earlier;
        final int stampAgain;

        Piece(Object array, int stamp, Piece earlier) {
            this.array = array;
            this.stamp = stamp;
            this.earlier = earlier;
            this.stampAgain = ~stamp;
        }
    }

    void work(int rounds) {
        for (int round = 0; round < rounds && !stop; round++) {
            try {
                step();
            } catch (OutOfMemoryError error) {
                exhausted++;
                kept.clear();
                keptBytes = 0;
            }
        }
    }

    void finish() {
        while (!kept.isEmpty()) {
            release();
        }
    }

    private void step() {
        int length = length();
        int stamp = next++;
        Object array;
        switch (random.nextInt(4)) {
            case 0:
                array = stamped(new byte[length], stamp);
                break;
            case 1:
                array = stamped(new int[length >> 2], stamp);
                break;
            case 2:
                array = stamped(new long[length >> 3], stamp);
                break;
            default:
                array = stamped(new Object[length >> 2], stamp);
        }
        bytes += length + 16;
        keptBytes += length + 64;
        Piece last = kept.peekLast();
        kept.add(new Piece(array, stamp, last != null && (stamp & 7) != 0 ? last : null));
        while (keptBytes > limit && !kept.isEmpty()) {
            release();
        }
    }

    private int length() {
        int kind = random.nextInt(100);
        return random.nextInt(Math.min(kind < 60 ? 64 : kind < 90 ? 512 : kind < 99 ? 4096 : largest, largest) + 1);
    }

    private void release() {
        Piece piece = kept.poll();
        keptBytes -= check(piece) + 64;
    }

    private Object stamped(byte[] array, int stamp) {
        for (int at = 0; at < array.length; at++) {
            isNew(array[at] == 0, at);
            array[at] = (byte) (stamp + at);
        }
        return array;
    }

    private Object stamped(int[] array, int stamp) {
        for (int at = 0; at < array.length; at++) {
            isNew(array[at] == 0, at);
            array[at] = stamp + at;
        }
        return array;
    }

    private Object stamped(long[] array, int stamp) {
        for (int at = 0; at < array.length; at++) {
            isNew(array[at] == 0, at);
            array[at] = (long) stamp << 32 | at;
        }
        return array;
    }

    private Object stamped(Object[] array, int stamp) {
        Object target = kept.peekLast();
        for (int at = 0; at < array.length; at++) {
            isNew(array[at] == null, at);
            array[at] = at == 0 ? (Object) Integer.valueOf(stamp) : target;
        }
        return array;
    }

    private int check(Piece piece) {
        int stamp = piece.stamp;
        is(piece.stampAgain == ~stamp, stamp, -1);
        is(piece.earlier == null || piece.earlier.stampAgain == ~piece.earlier.stamp, stamp, -2);
        checked++;
        if (piece.array instanceof byte[]) {
            byte[] array = (byte[]) piece.array;
            for (int at = 0; at < array.length; at++) {
                is(array[at] == (byte) (stamp + at), stamp, at);
            }
            return array.length;
        }
        if (piece.array instanceof int[]) {
            int[] array = (int[]) piece.array;
            for (int at = 0; at < array.length; at++) {
                is(array[at] == stamp + at, stamp, at);
            }
            return array.length << 2;
        }
        if (piece.array instanceof long[]) {
            long[] array = (long[]) piece.array;
            for (int at = 0; at < array.length; at++) {
                is(array[at] == ((long) stamp << 32 | at), stamp, at);
            }
            return array.length << 3;
        }
        Object[] array = (Object[]) piece.array;
        for (int at = 0; at < array.length; at++) {
            is(at == 0 ? array[0].equals(stamp) : array[at] == array[array.length - 1], stamp, at);
            is(at == 0 || array[at] == null || array[at] instanceof Piece, stamp, at);
        }
        return array.length << 2;
    }

    private static void isNew(boolean holds, int at) {
        is(holds, 0, at);
    }

    private static void is(boolean holds, int stamp, int at) {
        if (!holds) {
            corrupt("object " + Integer.toHexString(stamp) + " at " + at);
        }
    }

    /** Ends the program at once: what was found must not be. */
    static void corrupt(String what) {
        System.err.println("CORRUPT: " + what);
        Runtime.getRuntime().halt(99);
    }
}
