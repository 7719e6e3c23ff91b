package terrace.workloads;

import java.io.Writer;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;

/** One call of the compiler, in this process. */
final class Compilation {
    private static final List<String> OPTIONS =
            List.of("-proc:none", "-nowarn", "-Xlint:none", "-implicit:none");

    private Compilation() {}

    /** Compiles the sources and returns the class files. */
    static List<ClassFile> run(JavaCompiler compiler, MemoryFiles files, List<SourceFile> sources)
            throws CheckException {
        DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        boolean passed = compiler.getTask(Writer.nullWriter(), files, diagnostics, OPTIONS, null, sources)
                .call();
        List<ClassFile> written = files.takeWritten();
        if (!passed) {
            throw new CheckException("javac failed: " + firstError(diagnostics));
        }
        return written;
    }

    /** A checksum for each class, by name. */
    static SortedMap<String, Long> checksums(List<ClassFile> classes) {
        SortedMap<String, Long> checksums = new TreeMap<>();
        for (ClassFile file : classes) {
            checksums.put(file.className(), file.checksum());
        }
        return checksums;
    }

    private static String firstError(DiagnosticCollector<JavaFileObject> diagnostics) {
        for (Diagnostic<? extends JavaFileObject> diagnostic : diagnostics.getDiagnostics()) {
            if (diagnostic.getKind() == Diagnostic.Kind.ERROR) {
                String file = diagnostic.getSource() == null ? "" : diagnostic.getSource().getName() + ":";
                String message = diagnostic.getMessage(Locale.ROOT).replace('\n', ' ');
                return file + diagnostic.getLineNumber() + ": " + message;
            }
        }
        return "it gave no reason";
    }
}
