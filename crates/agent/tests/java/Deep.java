import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/** An agent in Java that takes some stack for each class of the Flight Recorder's and of terrace's events, as those do that rewrite bytecode. */
public final class Deep implements ClassFileTransformer {
    private static final int FRAMES = 800;

    public static void premain(String options, Instrumentation instrumentation) {
        instrumentation.addTransformer(new Deep());
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        if (name != null && (name.startsWith("terrace/jfr/") || name.startsWith("jdk/jfr/"))) {
            try {
                if (frames(FRAMES) == FRAMES) {
                    System.out.println("transformed " + name);
                }
            } catch (StackOverflowError tooLittle) {
                System.out.println("NO STACK for " + name + " on " + Thread.currentThread().getName());
            }
        }
        return null;
    }

    private static int frames(int count) {
        return count == 0 ? 0 : 1 + frames(count - 1);
    }
}
