/** Starts threads one after the other, each of which allocates a little and ends: three are mayflies, the fourth serves a request. */
public final class Mayflies {
    private static volatile Object last;

    public static void main(String[] args) throws InterruptedException {
        for (long number = 0; ; number++) {
            String name = number % 4 == 0 ? "request-of-a-client-" : "mayfly-";
            Thread thread = new Thread(() -> last = new byte[1000], name + number);
            thread.start();
            thread.join();
        }
    }
}
