import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/** Native code holds arrays in place (GetPrimitiveArrayCritical) while other threads make collections necessary. */
public final class Critical {
    private static final AtomicInteger ROUNDS = new AtomicInteger();

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        Evidence evidence = new Evidence(arguments);
        long most = arguments.bytes("most", "1000000m") / 16;
        List<Thread> running = new ArrayList<>();
        for (int number = 0; number < 16; number++) {
            int first = number;
            Thread thread = new Thread(() -> {
                if (first % 4 == 0) {
                    press(first);
                } else {
                    Keeper keeper = new Keeper(first, 64 << 10, 8 << 10);
                    while (!Keeper.stop && keeper.bytes < most) {
                        keeper.work(1000);
                    }
                    keeper.finish();
                }
            });
            running.add(thread);
            thread.start();
        }
        evidence.await(() -> ROUNDS.get() >= arguments.number("rounds", 8));
        Keeper.stop = true;
        for (Thread thread : running) {
            thread.join();
        }
        System.out.println("done rounds=" + ROUNDS);
    }

    private static void press(int seed) {
        while (!Keeper.stop) {
            byte[] plain = new byte[256 << 10];
            for (int at = 0; at < plain.length; at++) {
                plain[at] = (byte) (at / 3 + seed);
            }
            CRC32 before = new CRC32();
            before.update(plain);
            byte[] packed = new byte[plain.length];
            byte[] again = new byte[plain.length];
            Deflater deflater = new Deflater();
            deflater.setInput(plain);
            deflater.finish();
            int length = deflater.deflate(packed);
            deflater.end();
            Inflater inflater = new Inflater();
            try {
                inflater.setInput(packed, 0, length);
                inflater.inflate(again);
            } catch (java.util.zip.DataFormatException exception) {
                Keeper.corrupt(exception.toString());
            }
            inflater.end();
            CRC32 after = new CRC32();
            after.update(again);
            if (!Arrays.equals(plain, again) || before.getValue() != after.getValue()) {
                Keeper.corrupt("not what was pressed");
            }
            ROUNDS.incrementAndGet();
        }
    }
}
