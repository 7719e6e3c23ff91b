package terrace.jmh;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.runner.IterationType;

/**
 * Loads Terrace into JMH's forks, and reports its counters for each measured iteration.
 *
 * <p>JMH makes one of these in its own JVM, which gives the fork its options, and one in each fork, which sees the iterations.
 */
public final class TerraceProfiler implements ExternalProfiler, InternalProfiler {
    private final Settings settings;
    private final Terrace terrace;

    private IterationType type;
    private int iterations;
    private boolean on = true;
    private double firstOfPair;
    private Snapshot before;
    private boolean gaveUp;

    /** For {@code -lprof}, which only wants to know the class. */
    public TerraceProfiler() {
        settings = null;
        terrace = null;
    }

    /** With the parameters that stand behind the class's name, separated by semicolons. */
    public TerraceProfiler(String parameters) throws ProfilerException {
        settings = Settings.of(parameters);
        terrace = Terrace.find(settings.library(), System.getenv());
    }

    @Override
    public String getDescription() {
        return "Refills of thread buffers and requests to the shared heap, by Terrace; its buffers on against off";
    }

    @Override
    public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
        return List.of();
    }

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        return List.of("-agentpath:" + terrace.library() + "=" + settings.agentOptions());
    }

    @Override
    public void beforeTrial(BenchmarkParams params) {
        if (settings.compare() && params.getMeasurement().getCount() < 2) {
            System.err.println("terrace: compare=true alternates on and off between iterations: measure at least two (-i 2)");
        }
    }

    @Override
    public Collection<? extends Result<?>> afterTrial(BenchmarkResult result, long pid, File out, File err) {
        return List.of();
    }

    @Override
    public boolean allowPrintOut() {
        return true;
    }

    @Override
    public boolean allowPrintErr() {
        return true;
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        if (iteration.getType() != type) {
            type = iteration.getType();
            iterations = 0;
        }
        before = null;
        if (gaveUp) {
            return;
        }
        try {
            if (settings.compare()) {
                // On, off, off, on: what drifts is in both alike.
                on = iterations % 4 == 0 || iterations % 4 == 3;
                terrace.switchBuffers(on);
            }
            // Of a warm-up, too: what reads the counters is then warm as well.
            before = terrace.snapshot();
        } catch (IOException | InterruptedException error) {
            giveUp(error);
        }
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        iterations++;
        if (before == null) {
            return List.of();
        }
        try {
            Snapshot after = terrace.snapshot();
            if (type == IterationType.WARMUP) {
                return List.of();
            }
            List<Result<?>> results = new ArrayList<>();
            String side = settings.compare() ? on ? "on." : "off." : "";
            if (settings.compare()) {
                addSpeed(results, side, benchmark.getMode(), result.getPrimaryResult());
            }
            long operations = Math.max(1, result.getMetadata().getAllOps());
            for (Map.Entry<Figure, Double> figure : before.until(after, operations).entrySet()) {
                results.add(mean(side + figure.getKey().label(), figure.getValue(), figure.getKey().unit()));
            }
            return results;
        } catch (IOException | InterruptedException error) {
            giveUp(error);
            return List.of();
        }
    }

    /** The score of an iteration as one of its side, and what a pair of iterations says. */
    private void addSpeed(List<Result<?>> results, String side, Mode mode, Result<?> primary) {
        double score = primary.getScore();
        results.add(mean(side + "score", score, primary.getScoreUnit()));
        if (iterations % 2 == 1) {
            firstOfPair = score;
            return;
        }
        double ratio = on ? score / firstOfPair : firstOfPair / score;
        results.add(new Speed(mode == Mode.Throughput ? ratio : 1 / ratio));
    }

    private static MeanResult mean(String label, double value, String unit) {
        return new MeanResult("terrace." + label, value, unit);
    }

    /** One line; the benchmark goes on. */
    private void giveUp(Exception error) {
        if (error instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        gaveUp = true;
        System.err.println("terrace: no figures of this fork: " + error.getMessage());
    }
}
