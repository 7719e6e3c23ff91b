import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import terrace.Terrace;

/** Starts the buffers as an application of a server does, by a class and on a thread of its own, and tells whether all of it can be collected when it is gone. */
public final class Released {
    private static final int COLLECTIONS = 30;

    /** What the application's thread has, and threads inherit that it starts. */
    public static final InheritableThreadLocal<Object> LOCAL = new InheritableThreadLocal<>();

    private static volatile WeakReference<Object> value;
    private static volatile WeakReference<Object> loader;

    public static void main(String[] args) throws Exception {
        application();
        String waits = "Terrace waits for recordings";
        if (Thread.getAllStackTraces().keySet().stream().noneMatch(thread -> thread.getName().equals(waits))) {
            throw new AssertionError("no thread waits, so that nothing is shown");
        }
        for (int collection = 0; collection < COLLECTIONS && (value.get() != null || loader.get() != null); collection++) {
            System.gc();
        }
        System.out.println(value.get() == null ? "value released" : "VALUE KEPT");
        System.out.println(loader.get() == null ? "loader released" : "LOADER KEPT");
        System.out.println("done");
    }

    private static void application() throws Exception {
        ClassLoader own = new Loader();
        loader = new WeakReference<>(own);
        Thread thread = new Thread((Runnable) own.loadClass("Released$Application").getConstructor().newInstance());
        thread.setContextClassLoader(own);
        thread.start();
        thread.join();
    }

    /** Called by the application. */
    public static void inherit(Object inherited) {
        LOCAL.set(inherited);
        value = new WeakReference<>(inherited);
    }

    /** Is of another class loader than the rest of this. */
    public static final class Application implements Runnable {
        public Application() {}

        @Override
        public void run() {
            inherit(new Object());
            System.out.println("began: " + Terrace.start("core=64k").status());
        }
    }

    private static final class Loader extends ClassLoader {
        Loader() {
            super(Released.class.getClassLoader());
        }

        @Override
        public Class<?> loadClass(String name) throws ClassNotFoundException {
            if (!name.equals("Released$Application")) {
                return super.loadClass(name);
            }
            try (InputStream in = getParent().getResourceAsStream(name + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException unreadable) {
                throw new ClassNotFoundException(name, unreadable);
            }
        }
    }
}
