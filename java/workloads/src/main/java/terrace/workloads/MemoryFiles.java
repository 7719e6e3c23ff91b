package terrace.workloads;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntConsumer;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;

/** Where a compiler reads and writes: the JDK's classes from the JDK, all else in memory. For one thread. */
final class MemoryFiles extends ForwardingJavaFileManager<StandardJavaFileManager> {
    private final Map<String, List<JavaFileObject>> classPath;
    private final IntConsumer onClassWritten;
    private List<ClassFile> written = new ArrayList<>();

    /**
     * Takes over a standard file manager.
     *
     * @param classPath classes by package
     * @param onClassWritten is told the length of each class file
     */
    MemoryFiles(
            StandardJavaFileManager files, Map<String, List<JavaFileObject>> classPath, IntConsumer onClassWritten) {
        super(files);
        this.classPath = classPath;
        this.onClassWritten = onClassWritten;
    }

    /** The class files written since the last call. */
    List<ClassFile> takeWritten() {
        List<ClassFile> taken = written;
        written = new ArrayList<>();
        return taken;
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
            Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
        ClassFile file = new ClassFile(className, sibling, onClassWritten);
        written.add(file);
        return file;
    }

    @Override
    public Iterable<JavaFileObject> list(
            Location location, String packageName, Set<JavaFileObject.Kind> kinds, boolean recurse)
            throws IOException {
        if (location == StandardLocation.CLASS_PATH) {
            return classPath.getOrDefault(packageName, List.of());
        }
        return super.list(location, packageName, kinds, recurse);
    }

    /** Eclipse's compiler asks for one class at a time, javac for a package's. */
    @Override
    public JavaFileObject getJavaFileForInput(Location location, String className, JavaFileObject.Kind kind)
            throws IOException {
        if (location != StandardLocation.CLASS_PATH) {
            return super.getJavaFileForInput(location, className, kind);
        }
        String packageName = className.substring(0, Math.max(0, className.lastIndexOf('.')));
        for (JavaFileObject file : classPath.getOrDefault(packageName, List.of())) {
            if (inferBinaryName(location, file).equals(className)) {
                return file;
            }
        }
        return null;
    }

    @Override
    public String inferBinaryName(Location location, JavaFileObject file) {
        return file instanceof ClassFile classFile ? classFile.className() : super.inferBinaryName(location, file);
    }

    @Override
    public boolean hasLocation(JavaFileManager.Location location) {
        return location == StandardLocation.CLASS_PATH
                || location != StandardLocation.SOURCE_PATH && super.hasLocation(location);
    }
}
