/** One thread that fills eden, and many that use little of their TLABs before it is full. */
public final class Sleepers {
    private static volatile Object last;

    public static void main(String[] args) {
        for (int number = 0; number < Integer.parseInt(args[0]); number++) {
            start("sleeper-" + number, 5);
        }
        start("filler", 0);
    }

    private static void start(String name, long millis) {
        Runnable work = () -> {
            while (true) {
                last = new byte[100];
                if (millis > 0) {
                    pause(millis);
                }
            }
        };
        new Thread(work, name).start();
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
