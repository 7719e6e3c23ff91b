package terrace.jmh;

import java.util.Collection;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.Aggregator;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ResultRole;
import org.openjdk.jmh.util.ListStatistics;
import org.openjdk.jmh.util.Statistics;

/** Speed with buffers over speed without, of pairs of iterations: the geometric mean, since a mean of ratios leans upward. */
final class Speed extends Result<Speed> {
    private static final long serialVersionUID = 1;
    /** As in all of JMH's results. */
    private static final double CONFIDENCE = 0.999;

    Speed(double ratio) {
        this(of(ratio));
    }

    private Speed(Statistics ratios) {
        super(ResultRole.SECONDARY, "terrace.speed", ratios, "on/off", AggregationPolicy.AVG);
    }

    @Override
    public double getScore() {
        return Math.exp(logarithms().getMean());
    }

    @Override
    public double getScoreError() {
        double[] interval = getScoreConfidence();
        return (interval[1] - interval[0]) / 2;
    }

    @Override
    public double[] getScoreConfidence() {
        double[] interval = logarithms().getConfidenceIntervalAt(CONFIDENCE);
        return new double[] {Math.exp(interval[0]), Math.exp(interval[1])};
    }

    private Statistics logarithms() {
        ListStatistics logarithms = new ListStatistics();
        getStatistics().getRawData().forEachRemaining(ratio -> {
            for (long i = 0; i < ratio.getValue(); i++) {
                logarithms.addValue(Math.log(ratio.getKey()));
            }
        });
        return logarithms;
    }

    @Override
    protected Aggregator<Speed> getThreadAggregator() {
        return Speed::all;
    }

    @Override
    protected Aggregator<Speed> getIterationAggregator() {
        return Speed::all;
    }

    private static Speed all(Collection<Speed> pairs) {
        ListStatistics ratios = new ListStatistics();
        pairs.forEach(pair -> ratios.addValue(pair.getScore()));
        return new Speed(ratios);
    }
}
