package terrace.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ResultRole;
import org.openjdk.jmh.results.ThroughputResult;

class SpeedTest {
    private static Result<?> of(Result<?>... iterations) {
        List<IterationResult> results = new ArrayList<>();
        for (Result<?> result : iterations) {
            IterationResult iteration = new IterationResult(null, null, null);
            iteration.addResult(new ThroughputResult(ResultRole.PRIMARY, "score", 1, 1, TimeUnit.SECONDS));
            if (result != null) {
                iteration.addResult(result);
            }
            results.add(iteration);
        }
        BenchmarkResult all = new BenchmarkResult(null, results);
        assertEquals(1, all.getSecondaryResults().size());
        return all.getSecondaryResults().values().iterator().next();
    }

    @Test
    void twiceAsFastAndHalfAsFastIsNoDifference() {
        Result<?> speed = of(new Speed(2), null, new Speed(0.5), null, new Speed(2), new Speed(0.5));
        assertEquals(1, speed.getScore(), 1e-12);
        assertEquals(4, speed.getStatistics().getN());
        assertTrue(speed.getScoreConfidence()[0] < 0.5 && speed.getScoreConfidence()[1] > 2);
    }

    @Test
    void equalPairsHaveNoError() {
        Result<?> speed = of(new Speed(1.25), new Speed(1.25), new Speed(1.25));
        assertEquals(1.25, speed.getScore(), 1e-12);
        assertEquals(0, speed.getScoreError(), 1e-9);
    }

    @Test
    void anIterationOfTheOtherSideIsNoZero() {
        Result<?> mean = of(new MeanResult("terrace.on.heap", 4, ""), null, null, new MeanResult("terrace.on.heap", 6, ""));
        assertEquals(5, mean.getScore());
        assertEquals(2, mean.getStatistics().getN());
    }
}
