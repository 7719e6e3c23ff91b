package terrace.workloads;

/** A call while it runs, in its own thread: recorded when it ends, as are the steps that it is told of. */
final class RunningCall {
    private final Calls calls;
    private final int kind;
    private final long begin = System.nanoTime();
    private final long cpu = cpuTime();
    private long stepBegin = begin;
    private long stepCpu = cpu;
    private int steps;

    /** A call of this kind, which begins now. */
    RunningCall(Calls calls, int kind) {
        this.calls = calls;
        this.kind = kind;
    }

    /** A step ends and the next begins. Calls of one kind have the same steps in the same order. */
    void step() {
        long now = System.nanoTime();
        long used = cpuTime();
        calls.add(calls.step(kind, steps), stepBegin, now, used - stepCpu);
        steps++;
        stepBegin = now;
        stepCpu = used;
    }

    /** The call ends, and its last step. */
    void end() {
        step();
        calls.add(kind, begin, stepBegin, stepCpu - cpu);
    }

    private static long cpuTime() {
        return Allocation.threads().getCurrentThreadCpuTime();
    }
}
