package terrace;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/**
 * Registers the bean as soon as the JVM makes a server for beans, and not before: to make one at the start would take longer than all else that is done there.
 *
 * <p>A transformer sees the server's class come. It changes no class.
 */
final class Management implements ClassFileTransformer, Runnable {
    private static final String SERVER = "com/sun/jmx/mbeanserver/JmxMBeanServer";

    private final Instrumentation instrumentation;

    private Management(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    /** Begins to look. */
    static void await(Instrumentation instrumentation) {
        if (ModuleLayer.boot().findModule("java.management").isEmpty()) {
            return;
        }
        Management management = new Management(instrumentation);
        instrumentation.addTransformer(management);
        String name = SERVER.replace('/', '.');
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            // Another agent has one already.
            if (loaded.getName().equals(name)) {
                management.register();
                return;
            }
        }
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        if (loader == null && SERVER.equals(name)) {
            register();
        }
        return null;
    }

    /** Apart: whoever makes the server holds its lock. */
    private void register() {
        Thread thread = new Thread(this, "terrace management");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        instrumentation.removeTransformer(this);
        Buffers.register();
    }
}
