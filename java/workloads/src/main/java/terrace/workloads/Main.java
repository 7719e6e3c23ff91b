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
        System.exit(run(Workloads.OWN, List.of(arguments), System.out, System.err));
    }

    /** Runs a command with these workloads and returns its exit code. */
    public static int run(Workloads workloads, List<String> arguments, PrintStream out, PrintStream err) {
        try {
            if (arguments.isEmpty()) {
                throw new UsageException("no workload given: choose " + workloads.names() + ", or see --help");
            }
            if (arguments.contains("--help") || arguments.contains("-h")) {
                out.print(workloads.help().full(workloads.all()));
                return PASSED;
            }
            if (arguments.equals(List.of("list"))) {
                out.print(Help.list(workloads.all()));
                return PASSED;
            }
            if (workloads == Workloads.OWN && arguments.get(0).equals("profile")) {
                out.println(Profiler.run(ProfileOptions.parse(arguments.subList(1, arguments.size()))));
                return PASSED;
            }
            Options options = Options.parse(arguments, workloads);
            Result result = Runner.run(options.workload(), options.parameters());
            out.println(options.text() ? result.toText() : result.toJson());
            return PASSED;
        } catch (UsageException e) {
            err.println(workloads.command() + ": " + e.getMessage());
            return USAGE;
        } catch (CheckException e) {
            err.println(workloads.command() + ": check failed: " + e.getMessage());
        } catch (OutOfMemoryError e) {
            err.println(workloads.command() + ": out of memory (" + e.getMessage() + "): use a larger -Xmx, or "
                    + "fewer --threads");
        } catch (UnsatisfiedLinkError e) {
            err.println(workloads.command() + ": a native library cannot be loaded (" + e.getMessage()
                    + "): set TMPDIR to a directory from which programs may be executed");
        } catch (LinkageError e) {
            err.println(workloads.command() + ": this Java runtime lacks a class (" + e.getMessage() + "): run a full JDK");
        } catch (Exception | Error e) {
            err.println(workloads.command() + ": cannot continue: " + e);
        }
        return FAILED;
    }
}
