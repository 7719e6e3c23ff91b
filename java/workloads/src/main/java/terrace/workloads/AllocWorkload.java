package terrace.workloads;

import java.util.OptionalInt;

/** Threads that allocate arrays of one size as fast as they can and contend on nothing else. */
final class AllocWorkload implements Workload {
    @Override
    public String name() {
        return "alloc";
    }

    @Override
    public String summary() {
        return "each thread allocates byte arrays of one size, as fast as it can";
    }

    @Override
    public int defaultThreads() {
        return Runtime.getRuntime().availableProcessors();
    }

    @Override
    public OptionalInt defaultSize() {
        return OptionalInt.of(16);
    }

    @Override
    public String sizeMeaning() {
        return "length of each array";
    }

    @Override
    public Prepared prepare(Parameters parameters) {
        int size = parameters.size();
        return new Prepared() {
            @Override
            public String operation() {
                return "byte[" + size + "] allocated";
            }

            @Override
            public Worker worker(int index, Tally tally) {
                return new AllocWorker(size, tally);
            }
        };
    }
}
