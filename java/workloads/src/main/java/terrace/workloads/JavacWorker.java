package terrace.workloads;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import javax.tools.JavaFileObject;

/** Compiles one part of the sources after the other. */
final class JavacWorker implements Worker {
    private final Compilation compilation;
    private final List<List<SourceFile>> parts;
    private final Baseline baseline;
    private final MemoryFiles files;
    private final Calls calls;
    private int part;

    /** A worker with a file manager of its own, which begins at the part with its index. */
    JavacWorker(
            Compilation compilation,
            Map<String, List<JavaFileObject>> classPath,
            List<List<SourceFile>> parts,
            Baseline baseline,
            Calls calls,
            int index,
            Tally tally) {
        this.compilation = compilation;
        this.parts = parts;
        this.baseline = baseline;
        this.calls = calls;
        this.files = compilation.files(classPath, tally::add);
        this.part = index % parts.size();
    }

    @Override
    public void batch() throws CheckException {
        RunningCall call = calls == null ? null : new RunningCall(calls, part);
        List<ClassFile> classes = compilation.run(files, parts.get(part), call == null ? null : call::step);
        baseline.check(part, Compilation.checksums(classes));
        if (call != null) {
            call.end();
        }
        part = (part + 1) % parts.size();
    }

    @Override
    public void end() throws IOException {
        files.close();
    }
}
