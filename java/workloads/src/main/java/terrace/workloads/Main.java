package terrace.workloads;

import java.io.PrintStream;
import java.util.List;

/** The command: {@code java -jar terrace-workloads.jar NAME [options]}. */
public final class Main {
    /** Measured, and all checks passed. */
    static final int PASSED = 0;

    /** A check failed, or the workload could not go on. */
    static final int FAILED = 1;

    /** The command line cannot be carried out. */
    static final int USAGE = 2;

    private Main() {}

    /** Runs the command and exits with its code. */
    public static void main(String[] arguments) {
        System.exit(run(List.of(arguments), System.out, System.err));
    }

    /** Runs the command and returns its exit code. */
    static int run(List<String> arguments, PrintStream out, PrintStream err) {
        try {
            if (arguments.isEmpty()) {
                throw new UsageException("no workload named: choose " + Workloads.names() + ", or see --help");
            }
            if (arguments.contains("--help") || arguments.contains("-h")) {
                out.print(Help.full());
                return PASSED;
            }
            if (arguments.equals(List.of("list"))) {
                out.print(Help.list());
                return PASSED;
            }
            if (arguments.get(0).equals("profile")) {
                out.println(Profiler.run(ProfileOptions.parse(arguments.subList(1, arguments.size()))));
                return PASSED;
            }
            Options options = Options.parse(arguments);
            Result result = Runner.run(options.workload(), options.parameters());
            out.println(options.text() ? result.toText() : result.toJson());
            return PASSED;
        } catch (UsageException e) {
            err.println("terrace-workloads: " + e.getMessage());
            return USAGE;
        } catch (CheckException e) {
            err.println("terrace-workloads: check failed: " + e.getMessage());
        } catch (OutOfMemoryError e) {
            err.println("terrace-workloads: out of memory (" + e.getMessage() + "): give the JVM a larger -Xmx, or "
                    + "fewer --threads");
        } catch (LinkageError e) {
            err.println("terrace-workloads: this Java runtime lacks a class (" + e.getMessage() + "): run a full JDK");
        } catch (Exception | Error e) {
            err.println("terrace-workloads: cannot go on: " + e);
        }
        return FAILED;
    }
}
