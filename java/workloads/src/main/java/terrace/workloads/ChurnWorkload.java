package terrace.workloads;

import java.util.Arrays;
import java.util.Map;
import java.util.OptionalInt;

/**
 * A new platform thread for each task, as servers without a pool do. With small tasks many buffers are opened and little is put in; with
 * large ones a thread is busy for all of its short life.
 */
final class ChurnWorkload implements Workload {
    @Override
    public String name() {
        return "churn";
    }

    @Override
    public String summary() {
        return "each task runs in a new thread; --threads workers start and join them, each one at a time";
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
        return "bytes that each task allocates, in objects of " + Chain.LINK_BYTES + "; or --sizes, --mixture";
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
    public boolean takesLengths() {
        return true;
    }

    @Override
    public Prepared prepare(Parameters parameters) {
        Lengths lengths = parameters.lengths() == null ? Lengths.one(parameters.size()) : parameters.lengths();
        int[] links = Arrays.stream(lengths.sequence()).map(Chain::links).toArray();
        return new Prepared() {
            @Override
            public String operation() {
                return "task run in a thread of its own";
            }

            @Override
            public Map<String, Object> facts() {
                return parameters.lengths() == null ? Map.of() : Map.of("sizes", lengths.description());
            }

            @Override
            public Worker worker(int index, Tally tally) {
                // Not all starters have the same task at the same time.
                return new Starter(links, index * (links.length / parameters.threads()), (long) index << 32, tally);
            }
        };
    }

    /**
     * Starts a thread, waits until it has ended, and checks its result.
     *
     * @param links of each task, in turn
     * @param first of them to begin with
     */
    private record Starter(int[] links, int first, long seed, Tally tally) implements Worker {
        @Override
        public void batch() throws Exception {
            int own = links[(int) ((first + tally.total()) % links.length)];
            ChurnTask task = new ChurnTask(own, seed + tally.total());
            Thread thread = new Thread(task, "terrace-task");
            thread.start();
            thread.join();
            task.check();
            tally.add(1);
        }
    }
}
