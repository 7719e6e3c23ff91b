/** Daemon threads allocate while the program ends: by System.exit, by return, by halt, or by an exception. */
public final class Leave {
    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        int threads = arguments.number("threads", 16);
        long most = arguments.bytes("most", "1000000m") / threads;
        for (int number = 0; number < threads; number++) {
            int first = number;
            Thread thread = new Thread(() -> {
                Keeper keeper = new Keeper(first, 256 << 10, 16 << 10);
                // A heap that nobody collects is not filled while the main thread waits for a CPU.
                while (keeper.bytes < most) {
                    keeper.work(1000);
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        Thread.sleep(arguments.number("millis", 30));
        System.out.println("leaving");
        switch (arguments.text("by", "return")) {
            case "exit": System.exit(0); break;
            case "halt": Runtime.getRuntime().halt(0); break;
            default:
        }
    }
}
