package terrace.applications;

import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Set;
import javax.tools.DiagnosticListener;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.StandardLocation;
import org.eclipse.jdt.internal.compiler.tool.EclipseCompiler;
import terrace.workloads.JavacWorkload;

/** Eclipse's compiler, driven as javac is. */
final class Ecj extends JavacWorkload {
    @Override
    public String name() {
        return "ecj";
    }

    /** It reads and writes in threads of its own. */
    @Override
    public boolean allocatesInWorkers() {
        return false;
    }

    /** Its own threads take CPU time that is not its caller's. */
    @Override
    public boolean recordsCalls() {
        return false;
    }

    @Override
    protected List<String> options() {
        return List.of("-nowarn", "-proc:none", "-source", "8", "-target", "8");
    }

    @Override
    protected JavaCompiler compiler() {
        return new EclipseCompiler() {
            @Override
            public CompilationTask getTask(
                    Writer out,
                    JavaFileManager files,
                    DiagnosticListener<? super JavaFileObject> listener,
                    Iterable<String> options,
                    Iterable<String> classes,
                    Iterable<? extends JavaFileObject> sources) {
                return super.getTask(out, new SourcesInMemory(files), listener, options, classes, sources);
            }
        };
    }

    /**
     * What ECJ expects of a file manager: a source that is no file has to be on the source path, where nothing else is, and names have
     * slashes.
     */
    private static final class SourcesInMemory extends ForwardingJavaFileManager<JavaFileManager> {
        SourcesInMemory(JavaFileManager files) {
            super(files);
        }

        @Override
        public boolean hasLocation(Location location) {
            return location == StandardLocation.SOURCE_PATH || super.hasLocation(location);
        }

        @Override
        public boolean contains(Location location, FileObject file) throws IOException {
            return location == StandardLocation.SOURCE_PATH || super.contains(location, file);
        }

        @Override
        public JavaFileObject getJavaFileForInput(Location location, String className, JavaFileObject.Kind kind)
                throws IOException {
            return location == StandardLocation.SOURCE_PATH
                    ? null
                    : super.getJavaFileForInput(location, dotted(className), kind);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String className, JavaFileObject.Kind kind, FileObject sibling) throws IOException {
            return super.getJavaFileForOutput(location, dotted(className), kind, sibling);
        }

        @Override
        public Iterable<JavaFileObject> list(
                Location location, String packageName, Set<JavaFileObject.Kind> kinds, boolean recurse)
                throws IOException {
            return location == StandardLocation.SOURCE_PATH
                    ? List.of()
                    : super.list(location, dotted(packageName), kinds, recurse);
        }

        private static String dotted(String name) {
            return name.replace('/', '.');
        }
    }
}
