/**
 * Hierarchical allocation buffers under this JVM: see {@link terrace.Terrace}.
 *
 * <p>All modules but {@code java.base} may be missing.
 */
module terrace {
    requires static java.instrument;
    requires static transitive java.management;
    requires static jdk.attach;
    requires static jdk.jfr;

    exports terrace;
}
