package terrace.workloads;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.ToolProvider;

/**
 * Threads that compile a library, again and again, each with a compiler of its own in this process.
 *
 * <p>The whole library is compiled once in the beginning, for its classes. A round then takes {@value #PARTS} calls of
 * the compiler, each for a part of the sources with those classes on its class path; a call takes some 20 ms when warm.
 * One call for everything would take twenty times as long, and write no class in its first third: short windows would
 * compare its phases instead of its speed. Each thread begins at another part. Operations are the bytes of class files
 * written, which follow the compiler's work more closely than their number: when this was chosen, windows of 200 ms of
 * CPU time differed by 12 percent (coefficient of variation) in bytes, by 18 to 21 percent in files.
 */
public class JavacWorkload implements Workload {
    private static final int PARTS = 28;

    @Override
    public String name() {
        return "javac";
    }

    @Override
    public String summary() {
        return "each thread compiles the sources in --sources in this process, in rounds of " + PARTS + " calls";
    }

    @Override
    public int defaultThreads() {
        return Runtime.getRuntime().availableProcessors();
    }

    @Override
    public double defaultWarmup() {
        return 10;
    }

    @Override
    public boolean takesSources() {
        return true;
    }

    @Override
    public boolean recordsCalls() {
        return true;
    }

    @Override
    public Prepared prepare(Parameters parameters) throws Exception {
        Calls calls = Calls.inFile(parameters.calls(), PARTS);
        // First: without the module not even the classes that hold sources can be loaded.
        JavaCompiler compiler = compiler();
        Compilation compilation = new Compilation(compiler, options());
        List<SourceFile> sources = SourceJar.read(parameters.sources());
        List<ClassFile> classes = compileEverything(compilation, sources);
        Map<String, List<JavaFileObject>> classPath = new HashMap<>();
        for (ClassFile file : classes) {
            classPath.computeIfAbsent(file.packageName(), name -> new ArrayList<>()).add(file);
        }
        List<List<SourceFile>> parts = Parts.deal(sources, classes, PARTS);
        Baseline baseline = new Baseline(parts.size(), classes.size());
        return new Prepared() {
            @Override
            public String operation() {
                return "byte of class files compiled";
            }

            @Override
            public Map<String, Object> facts() {
                Map<String, Object> facts = new LinkedHashMap<>();
                facts.put("sources", parameters.sources().toString());
                facts.put("source_files", sources.size());
                facts.put("source_lines", lines(sources));
                facts.put("class_files", classes.size());
                facts.put("class_bytes", bytes(classes));
                return facts;
            }

            @Override
            public int batchesInRound() {
                return parts.size();
            }

            @Override
            public Worker worker(int index, Tally tally) {
                return new JavacWorker(compilation, classPath, parts, baseline, calls, index, tally);
            }
        };
    }

    private static long lines(List<SourceFile> sources) {
        long sum = 0;
        for (SourceFile source : sources) {
            sum += source.getCharContent(true).toString().lines().count();
        }
        return sum;
    }

    private static long bytes(List<ClassFile> classes) {
        long sum = 0;
        for (ClassFile file : classes) {
            sum += file.length();
        }
        return sum;
    }

    /** The compiler's options for compiling without warnings and annotation processors. */
    protected List<String> options() {
        return List.of("-proc:none", "-nowarn", "-Xlint:none", "-implicit:none");
    }

    /** The compiler; this one is the JDK's own. */
    protected JavaCompiler compiler() throws UsageException {
        boolean there = ModuleLayer.boot().findModule("jdk.compiler").isPresent();
        JavaCompiler compiler = there ? ToolProvider.getSystemJavaCompiler() : null;
        if (compiler == null) {
            throw new UsageException("javac needs a Java runtime with the module jdk.compiler, which "
                    + System.getProperty("java.home") + " lacks: run it with the java of a JDK");
        }
        return compiler;
    }

    private static List<ClassFile> compileEverything(Compilation compilation, List<SourceFile> sources)
            throws IOException, UsageException {
        try (MemoryFiles files = compilation.files(Map.of(), length -> {})) {
            return compilation.run(files, sources, null);
        } catch (CheckException e) {
            throw new UsageException(e.getMessage() + ": specify --sources that compile without other libraries");
        }
    }
}
