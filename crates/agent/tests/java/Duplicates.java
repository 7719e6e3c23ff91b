import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/** Strings that are equal, until the collector has made most of them share their bytes; all keep their text. */
public final class Duplicates {
    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        Evidence evidence = new Evidence(arguments);
        Field value = String.class.getDeclaredField("value");
        value.setAccessible(true);
        List<Thread> running = new ArrayList<>();
        for (int number = 0; number < 4; number++) {
            int first = number;
            Thread thread = new Thread(() -> {
                Keeper keeper = new Keeper(first, 128 << 10, 8 << 10);
                while (!Keeper.stop) {
                    keeper.work(300);
                    Thread.yield();
                }
                keeper.finish();
            });
            running.add(thread);
            thread.start();
        }
        String[][] pairs = new String[2000][];
        for (int at = 0; at < pairs.length; at++) {
            pairs[at] = new String[] {text(at), text(at)};
        }
        int[] shared = new int[1];
        evidence.await(() -> {
            shared[0] = 0;
            for (String[] pair : pairs) {
                shared[0] += same(value, pair) ? 1 : 0;
            }
            System.gc();
            return shared[0] > pairs.length / 2;
        });
        Keeper.stop = true;
        for (Thread thread : running) {
            thread.join();
        }
        for (int at = 0; at < pairs.length; at++) {
            if (!pairs[at][0].equals(text(at)) || !pairs[at][1].equals(text(at))) {
                Keeper.corrupt(pairs[at][0]);
            }
        }
        System.out.println("done shared=" + shared[0]);
    }

    private static String text(int number) {
        return new StringBuilder("a text that is there twice, number ").append(number).toString();
    }

    private static boolean same(Field value, String[] pair) {
        try {
            return value.get(pair[0]) == value.get(pair[1]);
        } catch (IllegalAccessException exception) {
            throw new IllegalStateException(exception);
        }
    }
}
