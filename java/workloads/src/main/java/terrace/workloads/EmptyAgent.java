package terrace.workloads;

/** An agent in Java that does nothing: what {@code -javaagent} costs by itself. */
public final class EmptyAgent {
    private EmptyAgent() {}

    /** Called by the JVM before {@code main}. */
    public static void premain(String options) {}
}
