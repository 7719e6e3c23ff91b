package terrace.workloads;

/** A thread that makes its worker and lets it work until the gate is closed. */
final class WorkerThread extends Thread {
    private final Workload.Prepared prepared;
    private final int index;
    private final Tally tally;
    private final Runner.Gate gate;

    /** A thread for the worker with this index. */
    WorkerThread(String name, Workload.Prepared prepared, int index, Tally tally, Runner.Gate gate) {
        super(name);
        this.prepared = prepared;
        this.index = index;
        this.tally = tally;
        this.gate = gate;
    }

    @Override
    public void run() {
        try {
            Worker worker = prepared.worker(index, tally);
            worker.begin();
            gate.pass();
            work(worker);
            worker.end();
        } catch (Throwable e) {
            // Whatever it is, an OutOfMemoryError too: the runner reports it.
            gate.fail(e);
        }
    }

    private void work(Worker worker) throws Exception {
        while (!gate.isClosed()) {
            worker.batch();
        }
    }
}
