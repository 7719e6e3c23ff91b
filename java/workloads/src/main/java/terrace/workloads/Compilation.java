package terrace.workloads;

import java.io.Writer;
import java.util.List;
import java.util.Map;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaCompiler.CompilationTask;
import javax.tools.JavaFileObject;

/**
 * Calls of a compiler, in this process.
 *
 * @param compiler that is called
 * @param options for each call
 */
record Compilation(JavaCompiler compiler, List<String> options) {
    /** Where a call reads and writes. */
    MemoryFiles files(Map<String, List<JavaFileObject>> classPath, IntConsumer onClassWritten) {
        return new MemoryFiles(compiler.getStandardFileManager(null, null, null), classPath, onClassWritten);
    }

    /**
     * Compiles the sources and returns the class files.
     *
     * @param onStep is told when a step of it ends; null for nobody
     */
    List<ClassFile> run(MemoryFiles files, List<SourceFile> sources, Runnable onStep) throws CheckException {
        DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        CompilationTask task = compiler.getTask(Writer.nullWriter(), files, diagnostics, options, null, sources);
        if (onStep != null) {
            Steps.of(task, onStep);
        }
        boolean passed = task.call();
        List<ClassFile> written = files.takeWritten();
        if (!passed) {
            throw new CheckException("the compiler failed: " + firstError(diagnostics));
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
