package terrace;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import terrace.threads.Daemon;

/**
 * Has a thread do something when the JVM loads a class of its own for the first time, or at once if it has it already.
 *
 * <p>To ask for what comes with that class would load it, and much else, in each JVM that starts. A transformer sees it come. It changes no class.
 */
abstract class ClassAwaited implements ClassFileTransformer, Runnable {
    private final String name;
    private Instrumentation instrumentation;
    private boolean begun;

    /** By its name with slashes. */
    ClassAwaited(String name) {
        this.name = name;
    }

    /** Begins to look for all of these. */
    static void await(Instrumentation instrumentation, ClassAwaited... awaited) {
        for (ClassAwaited one : awaited) {
            one.instrumentation = instrumentation;
            instrumentation.addTransformer(one);
        }
        // Another agent may have brought one, or an option of the JVM's.
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (loaded.getClassLoader() == null) {
                String found = loaded.getName();
                for (ClassAwaited one : awaited) {
                    if (found.length() == one.name.length() && found.replace('.', '/').equals(one.name)) {
                        one.begin();
                    }
                }
            }
        }
    }

    @Override
    public byte[] transform(ClassLoader loader, String found, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        if (loader == null && name.equals(found)) {
            begin();
        }
        return null;
    }

    /** The class is there, or about to be. */
    abstract void came() throws InterruptedException;

    @Override
    public final void run() {
        try {
            instrumentation.removeTransformer(this);
            came();
        } catch (InterruptedException end) {
            // Somebody wants it to end.
            return;
        } catch (RuntimeException | LinkageError unexpected) {
            // A program may end for what no thread catches.
            System.err.println("terrace: " + Thread.currentThread().getName() + ": " + unexpected);
        }
    }

    /** Apart: whoever loads the class may hold locks that it needs. */
    private synchronized void begin() {
        if (begun) {
            return;
        }
        begun = true;
        Daemon.begin("terrace " + name.substring(name.lastIndexOf('/') + 1), this);
    }
}
