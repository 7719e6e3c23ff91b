package terrace.applications;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalInt;
import org.HdrHistogram.AbstractHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.IntCountsHistogram;
import terrace.workloads.Parameters;
import terrace.workloads.Tally;
import terrace.workloads.Worker;
import terrace.workloads.Workload;

/**
 * A workload of which each batch is one operation, whose time is recorded. Like operations, those times count that end within the
 * measured window; by stretches of time it is where they begin.
 *
 * @param workload that is timed
 */
record Timed(Workload workload) implements Workload {
    /**
     * Nanoseconds that a histogram tells apart at least, and a minute: its first range, which grows where an operation takes
     * longer. The shortest operations take some microseconds; 1 would take more memory in a program whose heap is small.
     */
    static final long LEAST = 32;

    static final long USUAL = 60_000_000_000L;
    static final int DIGITS = 3;
    private static final double NANOS_IN_MILLI = 1e6;

    @Override
    public String name() {
        return workload.name();
    }

    @Override
    public String summary() {
        return workload.summary();
    }

    @Override
    public int defaultThreads() {
        return workload.defaultThreads();
    }

    @Override
    public OptionalInt defaultSize() {
        return workload.defaultSize();
    }

    @Override
    public String sizeMeaning() {
        return workload.sizeMeaning();
    }

    @Override
    public double defaultWarmup() {
        return workload.defaultWarmup();
    }

    @Override
    public boolean takesSources() {
        return workload.takesSources();
    }

    @Override
    public boolean recordsCalls() {
        return workload.recordsCalls();
    }

    @Override
    public boolean allocatesInWorkers() {
        return workload.allocatesInWorkers();
    }

    @Override
    public Prepared prepare(Parameters parameters) throws Exception {
        Prepared prepared = workload.prepare(parameters);
        AbstractHistogram[] histograms = new AbstractHistogram[parameters.threads()];
        Stretches stretches = new Stretches();
        return new Prepared() {
            @Override
            public String operation() {
                return prepared.operation();
            }

            @Override
            public Map<String, Object> facts() {
                return prepared.facts();
            }

            @Override
            public Map<String, Object> findings() throws Exception {
                // First: what was measured before that is the program's own.
                long resident = Resident.mostBytes();
                Map<String, Object> findings = new LinkedHashMap<>(percentiles(sum(histograms)));
                findings.put("stretches", stretches.percentiles());
                findings.put("peak_resident_bytes", resident);
                findings.putAll(prepared.findings());
                return findings;
            }

            @Override
            public Worker worker(int index, Tally tally) {
                IntCountsHistogram histogram = new IntCountsHistogram(LEAST, USUAL, DIGITS);
                histogram.setAutoResize(true);
                // Read only when the worker's thread has been joined.
                histograms[index] = histogram;
                return new TimedWorker(prepared.worker(index, tally), histogram, stretches, tally);
            }
        };
    }

    private static Histogram sum(AbstractHistogram[] histograms) {
        Histogram all = new Histogram(LEAST, USUAL, DIGITS);
        all.setAutoResize(true);
        for (AbstractHistogram histogram : histograms) {
            all.add(histogram);
        }
        return all;
    }

    /** What a histogram of nanoseconds says. */
    static Map<String, Object> percentiles(AbstractHistogram all) {
        Map<String, Object> percentiles = new LinkedHashMap<>();
        percentiles.put("timed_operations", all.getTotalCount());
        percentiles.put("p50_ms", all.getValueAtPercentile(50) / NANOS_IN_MILLI);
        percentiles.put("p99_ms", all.getValueAtPercentile(99) / NANOS_IN_MILLI);
        percentiles.put("p999_ms", all.getValueAtPercentile(99.9) / NANOS_IN_MILLI);
        percentiles.put("longest_ms", all.getMaxValue() / NANOS_IN_MILLI);
        return percentiles;
    }

    private record TimedWorker(Worker worker, IntCountsHistogram histogram, Stretches stretches, Tally tally)
            implements Worker {
        @Override
        public void begin() throws Exception {
            worker.begin();
        }

        @Override
        public void batch() throws Exception {
            long stretch = tally.stretch();
            long begin = System.nanoTime();
            worker.batch();
            long took = System.nanoTime() - begin;
            if (tally.isMeasuring()) {
                histogram.recordValue(took);
            }
            // Wherever it ended: if only those counted that end in time, long ones would be missing.
            stretches.record(stretch, took);
        }

        @Override
        public void end() throws Exception {
            worker.end();
        }
    }
}
