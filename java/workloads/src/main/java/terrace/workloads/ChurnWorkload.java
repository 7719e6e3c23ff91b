package terrace.workloads;

import java.util.OptionalInt;

/** A new platform thread for each task, as servers without a pool do: many buffers are opened, little is put in. */
final class ChurnWorkload implements Workload {
    @Override
    public String name() {
        return "churn";
    }

    @Override
    public String summary() {
        return "each task of a few KB runs in a new thread; --threads start and join them, one at a time each";
    }

    /** Twice the CPUs: half of the starters wait for their task at any time. */
    @Override
    public int defaultThreads() {
        return 2 * Runtime.getRuntime().availableProcessors();
    }

    @Override
    public OptionalInt defaultSize() {
        return OptionalInt.of(4096);
    }

    @Override
    public String sizeMeaning() {
        return "bytes that each task allocates, in objects of " + Chain.LINK_BYTES;
    }

    @Override
    public int minimumSize() {
        return Chain.LINK_BYTES;
    }

    @Override
    public boolean allocatesInWorkers() {
        return false;
    }

    @Override
    public Prepared prepare(Parameters parameters) {
        int links = Chain.links(parameters.size());
        return new Prepared() {
            @Override
            public String operation() {
                return "task run in a thread of its own";
            }

            @Override
            public Worker worker(int index, Tally tally) {
                return new Starter(links, index, tally);
            }
        };
    }

    /** Starts a thread, waits until it has ended, and checks its result. */
    private static final class Starter implements Worker {
        private final int links;
        private final long seed;
        private final Tally tally;

        Starter(int links, int index, Tally tally) {
            this.links = links;
            this.seed = (long) index << 32;
            this.tally = tally;
        }

        @Override
        public void batch() throws Exception {
            ChurnTask task = new ChurnTask(links, seed + tally.total());
            Thread thread = new Thread(task, "terrace-task");
            thread.start();
            thread.join();
            task.check();
            tally.add(1);
        }
    }
}
