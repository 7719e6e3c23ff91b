package terrace;

/** Registers the bean as soon as the JVM makes a server for beans, and not before: to make one at the start would take longer than all else that is done there. */
final class Management extends ClassAwaited {
    Management() {
        super("com/sun/jmx/mbeanserver/JmxMBeanServer");
    }

    @Override
    void came() {
        Buffers.register();
    }
}
