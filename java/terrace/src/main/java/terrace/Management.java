package terrace;

import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import terrace.threads.Looks;

/**
 * Registers the bean as soon as the JVM has its platform server for beans. To ask the JVM for that server would make it, which takes longer than all else that is done at the start,
 * and is for the program to decide.
 */
final class Management extends ClassAwaited {
    /** What the platform's server has, and usually no other. */
    private static final String PLATFORM = "java.lang:type=Runtime";

    Management() {
        super("com/sun/jmx/mbeanserver/JmxMBeanServer");
    }

    /** The first server may be one of the program's own. */
    @Override
    void came() throws InterruptedException {
        Looks looks = new Looks();
        while (!isRegistered()) {
            looks.pause();
        }
    }

    private static boolean isRegistered() {
        for (MBeanServer server : MBeanServerFactory.findMBeanServer(null)) {
            if (isOfPlatform(server)) {
                Buffers.register(server);
                return true;
            }
        }
        return false;
    }

    private static boolean isOfPlatform(MBeanServer server) {
        try {
            return server.isRegistered(new ObjectName(PLATFORM));
        } catch (JMException | RuntimeException unusual) {
            // A server in which somebody has built something else.
            return false;
        }
    }
}
