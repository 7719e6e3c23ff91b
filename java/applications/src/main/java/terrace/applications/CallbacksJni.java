package terrace.applications;

import java.nio.file.Files;
import java.nio.file.Path;
import terrace.workloads.CheckException;
import terrace.workloads.Parameters;
import terrace.workloads.Tally;
import terrace.workloads.UsageException;
import terrace.workloads.Worker;
import terrace.workloads.Workload;

/** The same as {@link Callbacks}, in C and by JNI alone: what is left is the thread, its attachment and the call. */
final class CallbacksJni implements Workload {
    private static final String LIBRARY = "libterrace-callbacks.so";

    @Override
    public String name() {
        return "callbacks-jni";
    }

    @Override
    public String summary() {
        return "native threads that attach, call Java once and end (C and JNI); --threads workers start and join them";
    }

    @Override
    public int defaultThreads() {
        return Runtime.getRuntime().availableProcessors();
    }

    @Override
    public boolean allocatesInWorkers() {
        return false;
    }

    @Override
    public Prepared prepare(Parameters parameters) throws UsageException {
        Path library = Home.folder().resolve(LIBRARY);
        if (!Files.isRegularFile(library)) {
            throw new UsageException(LIBRARY + " was not found beside the programs: install a C compiler (cc), then "
                    + "'cargo xtask applications --fetch'");
        }
        System.load(library.toString());
        return new Prepared() {
            @Override
            public String operation() {
                return "callback from a native thread of its own";
            }

            @Override
            public Worker worker(int index, Tally tally) {
                Event event = new Event();
                return () -> {
                    long number = tally.total();
                    event.expect(number);
                    int error = callBack(event);
                    if (error != 0) {
                        throw new CheckException("a native thread failed with error " + error + ": allow more threads (ulimit -u)");
                    }
                    event.check(number);
                    tally.add(1);
                };
            }
        };
    }

    /** Starts a thread that attaches, calls {@link Event#handle} and detaches, and waits for its end; 0 or an error number. */
    private static native int callBack(Event event);
}
