import java.io.InputStream;

/** Loads the same class again and again, each time as a new one, so that metaspace makes collections necessary. */
public final class Classes {
    /** The class that is loaded. */
    public static final class Payload {
        final byte[] bytes = new byte[100];
    }

    private static final class Loader extends ClassLoader {
        Class<?> define(byte[] code) {
            return defineClass("Classes$Payload", code, 0, code.length);
        }
    }

    public static void main(String[] args) throws Exception {
        Arguments arguments = new Arguments(args);
        Evidence evidence = new Evidence(arguments);
        byte[] code;
        try (InputStream stream = Classes.class.getResourceAsStream("Classes$Payload.class")) {
            code = stream.readAllBytes();
        }
        for (int number = 0; number < 4; number++) {
            int first = number;
            Thread thread = new Thread(() -> {
                Keeper keeper = new Keeper(first, 64 << 10, 8 << 10);
                while (true) {
                    keeper.work(1000);
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        int classes = arguments.number("classes", 1000);
        int loaded = 0;
        Object[] kept = new Object[64];
        while (loaded < classes || !evidence.isThere()) {
            Object payload = new Loader().define(code).getConstructor().newInstance();
            kept[loaded++ % kept.length] = payload;
        }
        System.out.println("done loaded=" + loaded);
    }
}
