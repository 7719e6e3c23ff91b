import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import javax.management.JMX;
import javax.management.MBeanServerConnection;
import javax.management.Notification;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import terrace.BuffersMXBean;
import terrace.LevelCounters;

/** Looks at another JVM as jconsole does: {@code Manager PORT}. */
public final class Manager {
    public static void main(String[] args) throws Exception {
        JMXServiceURL url = new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + args[0] + "/jmxrmi");
        ObjectName name = new ObjectName("terrace:type=Buffers");
        try (JMXConnector connector = JMXConnectorFactory.connect(url)) {
            MBeanServerConnection server = connector.getMBeanServerConnection();
            // It is registered beside the program's own start.
            while (!server.isRegistered(name)) {
                Thread.sleep(1);
            }
            // As without any class of terrace on this side.
            System.out.println("state " + server.getAttribute(name, "State"));
            System.out.println("off " + server.invoke(name, "off", null, null) + " then on=" + server.getAttribute(name, "On"));
            BuffersMXBean buffers = JMX.newMXBeanProxy(server, name, BuffersMXBean.class, true);
            System.out.println("on " + buffers.on() + " then on=" + buffers.isOn());
            while (refills(buffers) < 10) {
                Thread.sleep(1);
            }
            System.out.println("refills, settings " + buffers.getSettings().startsWith("{\"terrace\":"));
            BlockingQueue<Notification> told = new LinkedBlockingQueue<>();
            server.addNotificationListener(name, (notification, handback) -> told.add(notification), null, null);
            System.out.println("listening");
            for (Notification notification = told.take(); ; notification = told.take()) {
                System.out.println("told " + notification.getType() + ": " + notification.getMessage());
                if (notification.getType().equals("terrace.sizes")) {
                    return;
                }
            }
        }
    }

    private static long refills(BuffersMXBean buffers) {
        LevelCounters core = buffers.getLevels().get(0);
        long sum = core.getDomains().stream().mapToLong(domain -> domain.get("refills")).sum();
        if (sum > core.getTotal().get("refills") || core.getBufferBytes() <= 0) {
            throw new AssertionError("counters that do not agree");
        }
        return sum;
    }
}
