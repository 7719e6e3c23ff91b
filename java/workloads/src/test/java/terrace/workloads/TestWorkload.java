package terrace.workloads;

/** A workload of a test, which has to say only how it is prepared. */
interface TestWorkload extends Workload {
    @Override
    default String name() {
        return "test";
    }

    @Override
    default String summary() {
        return "does what a test asks for";
    }

    @Override
    default int defaultThreads() {
        return 1;
    }
}
