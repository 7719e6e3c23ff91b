package terrace.workloads;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Runs a workload: prepares, warms up, measures, stops, checks. */
final class Runner {
    /** How often it looks whether whoever watches has asked for something. */
    private static final double POLL_SECONDS = 0.005;
    /** For so long a window waits for its first operation to end. */
    private static final double LATE_SECONDS = 60;

    private final Workload workload;
    private final Parameters parameters;
    private final Progress progress;
    private final WorkerThread[] threads;

    private Runner(Workload workload, Parameters parameters) throws UsageException {
        this.workload = workload;
        this.parameters = parameters;
        this.progress = parameters.progress() == null
                ? Progress.inMemory(parameters.threads())
                : Progress.inFile(parameters.progress(), parameters.threads());
        this.threads = new WorkerThread[parameters.threads()];
    }

    /** Runs the workload and returns what was measured, if all checks passed. */
    static Result run(Workload workload, Parameters parameters) throws Exception {
        return new Runner(workload, parameters).run();
    }

    private Result run() throws Exception {
        Workload.Prepared prepared = workload.prepare(parameters);
        Gate gate = new Gate(threads.length);
        Snapshot from;
        Snapshot to;
        try {
            for (int i = 0; i < threads.length; i++) {
                threads[i] = new WorkerThread(workload.name() + "-" + i, prepared, i, new Tally(progress, i), gate);
                threads[i].start();
            }
            gate.awaitReady();
            long[] ids = workload.allocatesInWorkers() ? threadIds() : null;
            Snapshot.take(progress, ids);
            awaitWork(gate);
            progress.phase(Progress.Phase.WARMING_UP);
            gate.open();
            awaitBegin(gate);
            progress.phase(Progress.Phase.MEASURING);
            from = Snapshot.take(progress, ids);
            awaitEnd(gate, from.operations());
            to = Snapshot.take(progress, ids);
            progress.phase(Progress.Phase.FINISHED);
            if (parameters.externalWindow()) {
                await(gate, progress::stopAsked);
            }
        } finally {
            stop(gate);
        }
        gate.throwFailure();
        Result result =
                new Result(workload.name(), shown(prepared), prepared.operation(), from, to, prepared.findings());
        if (result.operations() <= 0) {
            throw new CheckException("no operation ended within the measured window: use more --seconds");
        }
        return result;
    }

    /**
     * Until whoever watches several of us wants the work to begin. One that began as soon as it could would warm up longest, and
     * take the CPUs from those that still start.
     */
    private void awaitWork(Gate gate) throws Exception {
        if (parameters.externalWindow()) {
            progress.phase(Progress.Phase.READY);
            await(gate, progress::workAsked);
        }
    }

    /** Until the warm-up is over, or whoever watches opens the measured window. */
    private void awaitBegin(Gate gate) throws Exception {
        if (parameters.externalWindow()) {
            await(gate, progress::beginAsked);
        } else {
            gate.awaitFailure(parameters.warmup());
        }
    }

    /** Until the reader has asked. Work that has begun goes on meanwhile. */
    private static void await(Gate gate, BooleanSupplier asked) throws Exception {
        while (!asked.getAsBoolean()) {
            gate.awaitFailure(POLL_SECONDS);
        }
    }

    /**
     * Until the time is over, so much work is done, or the end is asked for. What is done until that is noticed counts,
     * too: the result tells what was done.
     */
    private void awaitEnd(Gate gate, long operationsBefore) throws Exception {
        if (parameters.externalWindow()) {
            // A window in which nothing ended would say nothing.
            await(gate, () -> progress.endAsked() && progress.sum() > operationsBefore);
            return;
        }
        boolean byWork = parameters.work() > 0;
        long deadline = System.nanoTime() + (long) (parameters.seconds() * 1e9);
        while (true) {
            long now = System.nanoTime();
            boolean asked = progress.endAsked();
            if (asked) {
                // Its time is over, from the first look on that finds it so.
                deadline = Math.min(deadline, now);
            }
            double left = (deadline - now) / 1e9;
            long done = progress.sum() - operationsBefore;
            // A short window on a busy machine: one in which nothing ended would say nothing.
            boolean over = left <= 0 && (done > 0 || left < -LATE_SECONDS);
            if (byWork ? done >= parameters.work() || (asked && over) : over) {
                return;
            }
            gate.awaitFailure(byWork ? 0.001 : Math.max(Math.min(left, 0.01), 0.001));
        }
    }

    private long[] threadIds() {
        long[] ids = new long[threads.length];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = threads[i].getId();
        }
        return ids;
    }

    private Map<String, Object> shown(Workload.Prepared prepared) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("threads", parameters.threads());
        if (parameters.externalWindow()) {
            shown.put("window", Options.EXTERNAL);
        } else {
            if (parameters.work() > 0) {
                shown.put("work", parameters.work());
            } else {
                shown.put("seconds", parameters.seconds());
            }
            shown.put("warmup", parameters.warmup());
        }
        if (workload.defaultSize().isPresent() && parameters.lengths() == null) {
            shown.put("size", parameters.size());
        }
        shown.putAll(prepared.facts());
        return shown;
    }

    /** Waits for every worker to end its batch; sleepers are woken. */
    private void stop(Gate gate) throws InterruptedException {
        gate.close();
        for (WorkerThread thread : threads) {
            if (thread != null) {
                LockSupport.unpark(thread);
            }
        }
        for (WorkerThread thread : threads) {
            if (thread != null) {
                thread.join();
            }
        }
    }

    /** What the runner and the workers tell each other. After the start workers only read it. */
    static final class Gate {
        private final CountDownLatch ready;
        private final CountDownLatch opened = new CountDownLatch(1);
        private final CountDownLatch failed = new CountDownLatch(1);
        private volatile boolean closed;
        private volatile Throwable failure;

        /** A gate for so many workers. */
        Gate(int workers) {
            ready = new CountDownLatch(workers);
        }

        /** A worker is ready; it returns when work is to begin. */
        void pass() throws InterruptedException {
            ready.countDown();
            opened.await();
        }

        /** True when work is to end. */
        boolean isClosed() {
            return closed;
        }

        /** A worker cannot go on. The first failure ends the run. */
        synchronized void fail(Throwable cause) {
            if (failure == null) {
                failure = cause;
            }
            failed.countDown();
            while (ready.getCount() > 0) {
                ready.countDown();
            }
        }

        private void awaitReady() throws Exception {
            ready.await();
            throwFailure();
        }

        private void open() {
            opened.countDown();
        }

        private void close() {
            closed = true;
            open();
        }

        private void awaitFailure(double seconds) throws Exception {
            if (failed.await((long) (seconds * 1e9), TimeUnit.NANOSECONDS)) {
                throwFailure();
            }
        }

        private void throwFailure() throws Exception {
            if (failure instanceof Error error) {
                throw error;
            }
            if (failure instanceof Exception exception) {
                throw exception;
            }
        }
    }
}
