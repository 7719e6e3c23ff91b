/** One thread that fills eden, by so many arrays of 1000 bytes every 10 ms, and many that use little of their TLABs before it is full. */
public final class Sleepers {
    private static volatile Object last;

    public static void main(String[] args) {
        for (int number = 0; number < Integer.parseInt(args[0]); number++) {
            start("sleeper-" + number, 1);
        }
        start("filler", Integer.parseInt(args[1]));
    }

    /** So many arrays of 1000 bytes at a time. */
    private static void start(String name, int many) {
        Runnable work = () -> {
            while (true) {
                for (int number = 0; number < many; number++) {
                    last = new byte[1000];
                }
                pause();
            }
        };
        new Thread(work, name).start();
    }

    private static void pause() {
        try {
            Thread.sleep(10);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
