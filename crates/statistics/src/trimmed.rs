//! The trimmed mean: as robust as is needed against bursts, and nearly as precise as the mean where there are none. And the geometric
//! mean and the ratio of two sums, for few values of which none may be left out.

use crate::Interval;

/// The share of values left out at either end.
pub const TRIM: f64 = 0.2;

/// A trimmed mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Trimmed {
    /// The mean of what is left.
    pub mean: f64,
    /// What each value has moved it by: their sum is 0, and the sum of their squares, times n/(n-1), its variance (Tukey and
    /// McLaughlin 1963, by winsorized deviations). Two statistics of the same values are combined by adding these.
    pub influence: Vec<f64>,
    /// Degrees of freedom of its interval.
    pub freedom: usize,
}

/// The mean without the lowest and the highest fifth. `None` of fewer than two values.
pub fn trimmed(values: &[f64]) -> Option<Trimmed> {
    if values.len() < 2 {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = values.len();
    let cut = (TRIM * count as f64).floor() as usize;
    let kept = sorted.get(cut..count - cut)?;
    let (lowest, highest) = (*kept.first()?, *kept.last()?);
    let mean = kept.iter().sum::<f64>() / kept.len() as f64;
    let winsorized = |value: f64| value.clamp(lowest, highest);
    let centre = values.iter().map(|value| winsorized(*value)).sum::<f64>() / count as f64;
    let scale = kept.len() as f64;
    let influence = values.iter().map(|value| (winsorized(*value) - centre) / scale).collect();
    Some(Trimmed { mean, influence, freedom: kept.len() - 1 })
}

/// The standard error of what has these influences.
pub fn standard_error(influence: &[f64]) -> f64 {
    let count = influence.len() as f64;
    let squares: f64 = influence.iter().map(|value| value * value).sum();
    (squares * count / (count - 1.0).max(1.0)).sqrt()
}

/// The 97.5 % quantile of Student's distribution (Cornish and Fisher's expansion; within 0.2 % from 4 degrees of freedom on).
pub fn student(freedom: usize) -> f64 {
    let exact = [12.706, 4.303, 3.182, 2.776];
    if let Some(found) = freedom.checked_sub(1).and_then(|at| exact.get(at)) {
        return *found;
    }
    if freedom == 0 {
        return f64::INFINITY;
    }
    let (z, v) = (1.959_963_985_f64, freedom as f64);
    let z2 = z * z;
    z + z * (z2 + 1.0) / (4.0 * v)
        + z * (5.0 * z2 * z2 + 16.0 * z2 + 3.0) / (96.0 * v * v)
        + z * (3.0 * z2.powi(3) + 19.0 * z2 * z2 + 17.0 * z2 - 15.0) / (384.0 * v.powi(3))
}

/// The geometric mean of positive values, with Student's 95 % interval. `None` of fewer than two, which tell nothing of a third.
pub fn geometric(values: &[f64]) -> Option<Interval> {
    if values.len() < 2 || values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let mean = logarithms.iter().sum::<f64>() / values.len() as f64;
    let half = half_width(&logarithms)?;
    Some(Interval { median: mean.exp(), low: (mean - half).exp(), high: (mean + half).exp() })
}

/// The ratio of two sums over pairs, with Student's interval of its logarithm: none of one pair, or where the upper sum is 0. `None`
/// where the lower is 0.
pub fn ratio_of_sums(pairs: &[[f64; 2]]) -> Option<Interval> {
    let [above, below] = [0, 1].map(|at| pairs.iter().map(|pair| pair[at]).sum::<f64>());
    let ratio = above / below;
    if !ratio.is_finite() {
        return None;
    }
    if above <= 0.0 || pairs.len() < 2 {
        return Some(Interval::exactly(ratio));
    }
    let influence: Vec<f64> = pairs.iter().map(|pair| pair[0] / above - pair[1] / below).collect();
    let factor = (student(pairs.len() - 1) * standard_error(&influence)).exp();
    Some(Interval { median: ratio, low: ratio / factor, high: ratio * factor })
}

/// The same of counts that come to each side alike often for the same work: a pair is each side's count times the other's share of the work of both (Mantel
/// and Haenszel's). Of none above the upper end is that of the rule of three: 3.7 events or more are expected in the work in which none came in one of 40
/// cases. Where there are only one or two below, their own chance is more. `None` where there is not even one below.
pub fn ratio_of_counts(pairs: &[[f64; 2]]) -> Option<Interval> {
    let [above, below] = [0, 1].map(|at| pairs.iter().map(|pair| pair[at]).sum::<f64>());
    if above > 0.0 {
        return ratio_of_sums(pairs);
    }
    // Of equal work half of the count.
    let by_chance = ONE_SIDE.powf(0.5 / below) - 1.0;
    (below >= LEAST_COUNTED).then(|| Interval {
        median: 0.0,
        low: 0.0,
        high: by_chance.max(ONE_SIDE.ln() / below),
    })
}

/// In one of so many cases a value lies above a 95 % interval.
const ONE_SIDE: f64 = 40.0;
/// One count of which the other side's work was a tenth.
const LEAST_COUNTED: f64 = 0.1;

/// Half of Student's 95 % interval of a mean. `None` of fewer than two values.
pub fn half_width(values: &[f64]) -> Option<f64> {
    let freedom = values.len().checked_sub(1).filter(|freedom| *freedom > 0)?;
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let influence: Vec<f64> = values.iter().map(|value| (value - mean) / count).collect();
    Some(student(freedom) * standard_error(&influence))
}

/// The sum of 12 uniform numbers is nearly normal, with deviation 1.
#[cfg(test)]
pub(crate) fn normal(random: &mut crate::Random) -> f64 {
    (0..12).map(|_| random.below(1 << 30) as f64 / f64::from(1 << 30)).sum::<f64>() - 6.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn the_highest_and_lowest_fifth_do_not_count() {
        let found = trimmed(&[1.0, 2.0, 3.0, 4.0, 1000.0]).unwrap();
        assert_eq!((found.mean, found.freedom), (3.0, 2));
        assert!(found.influence.iter().sum::<f64>().abs() < 1e-12);
        // Winsorized: 2, 2, 3, 4, 4; their variance is 1; by hand: sqrt(1 / 5) / 0.6.
        assert!((standard_error(&found.influence) - (1.0_f64 / 5.0).sqrt() / 0.6).abs() < 1e-12);
        assert_eq!(trimmed(&[1.0]), None);
        assert_eq!(trimmed(&[2.0, 4.0]).unwrap().mean, 3.0);
    }

    #[test]
    fn a_ratio_of_sums_weighs_each_pair_by_what_it_counts() {
        let found = ratio_of_sums(&[[10.0, 5.0], [1.0, 2.0], [1.0, 1.0]]).unwrap();
        assert_eq!(found.median, 1.5);
        // By hand: influences 10/12 - 5/8, 1/12 - 2/8 and 1/12 - 1/8; t(2) = 4.303.
        let squares = (5.0_f64 / 24.0).powi(2) + (4.0_f64 / 24.0).powi(2) + (1.0_f64 / 24.0).powi(2);
        let half = 4.303 * (squares * 1.5).sqrt();
        assert!(((found.high / found.low).ln() / 2.0 - half).abs() < 1e-12, "{found:?}");
        assert_eq!(ratio_of_sums(&[[3.0, 2.0]]), Some(Interval::exactly(1.5)));
        assert_eq!(ratio_of_sums(&[[0.0, 2.0], [0.0, 1.0]]), Some(Interval::exactly(0.0)));
        assert_eq!(ratio_of_sums(&[[1.0, 0.0]]), None);
    }

    #[test]
    fn none_of_a_few_is_not_exactly_none() {
        let high = |pairs: &[[f64; 2]]| {
            let found = ratio_of_counts(pairs).unwrap();
            assert_eq!((found.median, found.low), (0.0, 0.0));
            found.high
        };
        // 3.69 of 20; of two for equal work the binomial distribution's: 0.5 to the power of 2 is 0.25, and 1 / 40 is 1 / (1 + 5.32)^2.
        assert!((high(&[[0.0, 12.0], [0.0, 8.0]]) - 40.0_f64.ln() / 20.0).abs() < 1e-12);
        assert!((high(&[[0.0, 1.0]]) - 5.3246).abs() < 1e-3);
        assert_eq!(ratio_of_counts(&[[0.0, 0.0], [0.0, 0.0]]), None);
        let some = [[10.0, 5.0], [1.0, 2.0], [1.0, 1.0]];
        assert_eq!(ratio_of_counts(&some), ratio_of_sums(&some));
    }

    /// Events at random, of which one side has so many times as many as the other for the same work.
    #[test]
    fn the_upper_end_of_none_is_exceeded_in_one_case_of_forty_at_most() {
        let mut random = Random::new(7);
        // From one event to the next, of an exponential distribution.
        let mut events = |mean: f64| {
            let mut uniform = || (random.below(1 << 30) as f64 + 0.5) / f64::from(1 << 30);
            let (mut at, mut count) = (-uniform().ln(), 0.0);
            while at < mean {
                count += 1.0;
                at -= uniform().ln();
            }
            count
        };
        for (ratio, mean) in [(0.1, 20.0), (0.5, 6.0), (1.0, 3.0), (1.0, 5.0), (2.0, 2.0), (0.3, 10.0)] {
            let missed = (0..4000).filter(|_| {
                let (above, below) = (events(ratio * mean), events(mean));
                // Half of each: both have done the same work.
                above == 0.0 && ratio_of_counts(&[[0.0, below / 2.0]]).is_some_and(|found| found.high < ratio)
            });
            let missed = missed.count();
            assert!(missed <= 120, "{ratio} of {mean}: {missed} of 4000");
        }
    }

    #[test]
    fn the_interval_of_a_geometric_mean_is_students() {
        // By hand: mean 0, squares 0.0004, so s = sqrt(0.0004 / 4) = 0.01; t(4) = 2.776.
        let found = geometric(&[-0.01_f64, 0.01, 0.0, -0.01, 0.01].map(f64::exp)).unwrap();
        assert!((found.median - 1.0).abs() < 1e-12);
        let half = (found.high / found.low).ln() / 2.0;
        assert!((half - 2.776 * 0.01 / 5.0_f64.sqrt()).abs() < 1e-5, "{half}");
        assert_eq!((geometric(&[1.0]), geometric(&[1.0, 0.0])), (None, None));
    }

    #[test]
    fn quantiles_are_the_tables() {
        for (freedom, expected) in
            [(1, 12.706), (4, 2.776), (5, 2.571), (10, 2.228), (30, 2.042), (200, 1.972)]
        {
            assert!((student(freedom) - expected).abs() < 0.005, "{freedom}: {}", student(freedom));
        }
    }

    #[test]
    fn the_interval_covers_the_centre_95_times_in_100_with_bursts_and_without() {
        let mut random = Random::new(4);
        for (count, bursts) in [(10, false), (40, false), (40, true), (200, true)] {
            let covered = (0..2000)
                .filter(|_| {
                    let values: Vec<f64> = (0..count)
                        .map(|_| {
                            let burst = bursts && random.below(10) == 0;
                            normal(&mut random) * if burst { 20.0 } else { 1.0 }
                        })
                        .collect();
                    let found = trimmed(&values).unwrap();
                    found.mean.abs() <= student(found.freedom) * standard_error(&found.influence)
                })
                .count();
            assert!((1860..=1950).contains(&covered), "{count} values, bursts {bursts}: {covered} of 2000");
        }
    }
}
