package terrace.applications;

import com.sun.jna.Callback;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.LongByReference;
import java.util.Map;
import terrace.workloads.CheckException;
import terrace.workloads.Parameters;
import terrace.workloads.Tally;
import terrace.workloads.Worker;
import terrace.workloads.Workload;

/**
 * Native threads that call Java once: each attaches to the JVM, handles an event of a few KB and detaches, as the threads of file
 * systems, audio drivers and game libraries do. The native code is the C library's own: {@code pthread_create} with a Java method as
 * the thread's routine.
 */
final class Callbacks implements Workload {
    /** The C library, as far as it is needed. */
    interface Threads extends Library {
        /** A thread's routine. */
        interface Routine extends Callback {
            /** Called on the new thread. */
            Pointer run(Pointer argument);
        }

        /** Starts a thread. */
        int pthread_create(LongByReference thread, Pointer attributes, Routine routine, Pointer argument);

        /** Waits for its end. */
        int pthread_join(long thread, Pointer value);
    }

    @Override
    public String name() {
        return "callbacks";
    }

    @Override
    public String summary() {
        return "native threads that attach, call Java once and end (JNA); --threads workers start and join them";
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
    public Prepared prepare(Parameters parameters) {
        // Whatever the process has loaded: the C library, with its threads.
        Threads threads = Native.load(Threads.class);
        return new Prepared() {
            @Override
            public String operation() {
                return "callback from a native thread of its own";
            }

            @Override
            public Map<String, Object> facts() {
                return Map.of("jna", Native.VERSION);
            }

            @Override
            public Worker worker(int index, Tally tally) {
                return new Driver(threads, tally);
            }
        };
    }

    /** Starts a native thread, waits for its end, and checks what it has left. */
    private static final class Driver implements Worker {
        private final Threads threads;
        private final Tally tally;
        private final Event event = new Event();
        /** Held here: native code does not keep it alive. */
        private final Threads.Routine routine = this::handle;

        Driver(Threads threads, Tally tally) {
            this.threads = threads;
            this.tally = tally;
        }

        @Override
        public void batch() throws CheckException {
            long number = tally.total();
            event.expect(number);
            LongByReference thread = new LongByReference();
            succeeded("pthread_create", threads.pthread_create(thread, null, routine, null));
            succeeded("pthread_join", threads.pthread_join(thread.getValue(), null));
            event.check(number);
            tally.add(1);
        }

        private Pointer handle(Pointer argument) {
            event.handle();
            return null;
        }

        private static void succeeded(String function, int error) throws CheckException {
            if (error != 0) {
                throw new CheckException(function + " failed with error " + error + ": allow more threads (ulimit -u)");
            }
        }
    }
}
