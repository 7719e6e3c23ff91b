package terrace.workloads;

import java.util.Map;
import java.util.OptionalInt;

/**
 * A service with very many threads: as many busy ones as there are CPUs, and all others asleep but for a request now
 * and then. Every buffer that a sleeper holds is memory that nobody else can use until the next collection.
 */
final class ThreadsWorkload implements Workload {
    @Override
    public String name() {
        return "threads";
    }

    @Override
    public String summary() {
        return "many threads: one for each CPU handles requests all the time, the others 2 to 10 a second";
    }

    @Override
    public int defaultThreads() {
        return 1000;
    }

    @Override
    public OptionalInt defaultSize() {
        return OptionalInt.of(1024);
    }

    @Override
    public String sizeMeaning() {
        return "bytes that each request allocates, in objects of " + Chain.LINK_BYTES;
    }

    @Override
    public int minimumSize() {
        return Chain.LINK_BYTES;
    }

    @Override
    public Prepared prepare(Parameters parameters) {
        int links = Chain.links(parameters.size());
        int busy = Math.min(parameters.threads(), Runtime.getRuntime().availableProcessors());
        return new Prepared() {
            @Override
            public String operation() {
                return "request handled";
            }

            @Override
            public Map<String, Object> facts() {
                return Map.of("busy_threads", busy);
            }

            @Override
            public Worker worker(int index, Tally tally) {
                return index < busy ? new BusyWorker(links, tally) : new IdleWorker(links, index, tally);
            }
        };
    }

    /** Allocates what one request needs, and checks it. */
    static void handle(int links, long seed) throws CheckException {
        Chain.check(Chain.checksum(Chain.make(links, seed)), links, seed);
    }
}
