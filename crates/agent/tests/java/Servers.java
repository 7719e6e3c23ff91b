import java.lang.management.ManagementFactory;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;

/** Makes a server for beans that nobody else is to know, and only then the platform's. */
public final class Servers {
    private static final String THREAD = "terrace JmxMBeanServer";

    public static void main(String[] args) throws Exception {
        MBeanServer own = MBeanServerFactory.newMBeanServer();
        // Until terrace has looked for the platform's server, and waits to look again.
        while (MBeanServerFactory.findMBeanServer(null).isEmpty() && !hasLooked()) {
            Thread.sleep(1);
        }
        if (!MBeanServerFactory.findMBeanServer(null).isEmpty()) {
            throw new AssertionError("there is a platform server that the program has not asked for");
        }
        System.out.println("own server: " + own.getMBeanCount() + " bean");
        ObjectName name = new ObjectName("terrace:type=Buffers");
        MBeanServer platform = ManagementFactory.getPlatformMBeanServer();
        while (!platform.isRegistered(name)) {
            Thread.sleep(1);
        }
        if (own.isRegistered(name)) {
            throw new AssertionError("the bean is in the program's own server");
        }
        System.out.println("done");
    }

    private static boolean hasLooked() {
        return Thread.getAllStackTraces().keySet().stream()
            .anyMatch(thread -> thread.getName().equals(THREAD) && thread.getState() == Thread.State.TIMED_WAITING);
    }
}
