package terrace.jmh;

import java.util.Collection;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.Aggregator;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ResultRole;
import org.openjdk.jmh.util.ListStatistics;
import org.openjdk.jmh.util.Statistics;

/** The mean over the iterations that have the result. JMH's own results count an iteration without it as 0. */
final class MeanResult extends Result<MeanResult> {
    private static final long serialVersionUID = 1;

    MeanResult(String label, double value, String unit) {
        this(label, of(value), unit);
    }

    private MeanResult(String label, Statistics values, String unit) {
        super(ResultRole.SECONDARY, label, values, unit, AggregationPolicy.AVG);
    }

    @Override
    protected Aggregator<MeanResult> getThreadAggregator() {
        return MeanResult::mean;
    }

    @Override
    protected Aggregator<MeanResult> getIterationAggregator() {
        return MeanResult::mean;
    }

    private static MeanResult mean(Collection<MeanResult> results) {
        ListStatistics values = new ListStatistics();
        results.forEach(result -> values.addValue(result.getScore()));
        MeanResult any = results.iterator().next();
        return new MeanResult(any.getLabel(), values, any.getScoreUnit());
    }
}
