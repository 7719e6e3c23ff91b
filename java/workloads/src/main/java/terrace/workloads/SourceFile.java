package terrace.workloads;

import java.net.URI;
import javax.tools.SimpleJavaFileObject;

/** A source file in memory. */
final class SourceFile extends SimpleJavaFileObject {
    private final String text;

    /** A source file; {@code path} is its path in the jar, such as {@code org/example/A.java}. */
    SourceFile(String path, String text) {
        super(URI.create("memory:///" + path), Kind.SOURCE);
        this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return text;
    }
}
