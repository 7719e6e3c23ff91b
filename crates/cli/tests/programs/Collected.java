import java.lang.management.ManagementFactory;
import java.lang.reflect.Proxy;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** A program whose whole heap is collected again and again, for another reason than that it is full. */
public final class Collected {
    private static final Object[] LIVE = new Object[1_000_000];
    private static volatile Object last;

    public static void main(String[] args) throws Exception {
        for (int at = 0; at < LIVE.length; at++) {
            LIVE[at] = new byte[at % 32];
        }
        while (true) {
            switch (args[0]) {
                case "request" -> System.gc();
                case "tool" -> histogram();
                case "metadata" -> classes(100);
                default -> throw new IllegalArgumentException(args[0]);
            }
            for (int number = 0; number < 1000; number++) {
                last = new byte[2000];
            }
            Thread.sleep(10);
        }
    }

    /** As monitoring does that counts what is alive. */
    private static void histogram() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
        Object[] none = {new String[0]};
        last = server.invoke(commands, "gcClassHistogram", none, new String[] {String[].class.getName()});
    }

    /** A class loader each, that nobody needs any more. */
    private static void classes(int count) {
        for (int number = 0; number < count; number++) {
            ClassLoader loader = new ClassLoader() { };
            last = Proxy.newProxyInstance(loader, new Class<?>[] {Runnable.class}, (self, method, arguments) -> null);
        }
    }
}
