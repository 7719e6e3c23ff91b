package terrace;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.stream.Collectors;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.StandardEmitterMBean;

/** The bean {@code terrace:type=Buffers}. {@code -javaagent} registers it; a program that calls {@link Terrace#start} does so with {@link #register}. */
public final class Buffers implements BuffersMXBean {
    /** The name under which the bean is registered. */
    public static final String NAME = "terrace:type=Buffers";

    private final Terrace terrace = Terrace.current();

    private Buffers() {}

    /** Registers the bean with the platform MBean server, if it is not registered already. */
    public static void register() {
        register(ManagementFactory.getPlatformMBeanServer());
    }

    /**
     * Registers the bean with a server, if it is not registered already.
     *
     * @param server of this JVM
     */
    public static void register(MBeanServer server) {
        Buffers buffers = new Buffers();
        try {
            server.registerMBean(new StandardEmitterMBean(buffers, BuffersMXBean.class, true, new Changes(buffers)), new ObjectName(NAME));
        } catch (InstanceAlreadyExistsException there) {
            // Every bean is the same view.
        } catch (JMException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public String getState() {
        return terrace.status().state();
    }

    @Override
    public String getMessage() {
        return terrace.status().message();
    }

    @Override
    public String getSettings() {
        return terrace.status().settings();
    }

    @Override
    public boolean isOn() {
        return terrace.status().isOn();
    }

    @Override
    public long getPauses() {
        return terrace.counters().pauses();
    }

    @Override
    public List<LevelCounters> getLevels() {
        Counters counters = terrace.counters();
        return counters.levels().stream().map(level -> LevelCounters.of(counters, level)).collect(Collectors.toList());
    }

    @Override
    public boolean on() {
        return terrace.on();
    }

    @Override
    public boolean off() {
        return terrace.off();
    }
}
