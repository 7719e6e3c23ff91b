//! Medians, bootstrap intervals, and what may be said from them.

#![allow(missing_docs, reason = "not published")]

pub mod trimmed;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// Resamples of a bootstrap. With this many the ends of a 95 % interval rest on a hundred resamples each.
pub const RESAMPLES: usize = 4000;

/// A median and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The median of what was measured.
    pub median: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

impl Interval {
    /// Of what is known, not estimated.
    pub fn exactly(value: f64) -> Interval {
        Interval { median: value, low: value, high: value }
    }

    /// The ratio of two quantities. Its interval goes from the lower end over the upper to the upper end over the lower: wider than that
    /// of paired values would be, so nothing is said too early. A negative end is the other way round. `None` where the divisor's interval includes 0.
    pub fn over(&self, base: &Interval) -> Option<Interval> {
        let least = |end: f64| end / if end < 0.0 { base.low } else { base.high };
        let most = |end: f64| end / if end < 0.0 { base.high } else { base.low };
        (base.low > 0.0).then(|| Interval {
            median: self.median / base.median,
            low: least(self.low),
            high: most(self.high),
        })
    }
}

/// What an interval of ratios a/b permits to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All of the interval lies above 1.
    Faster,
    /// All of it lies below 1.
    Slower,
    /// The interval holds 1.
    NoDifference,
    /// There are fewer pairs than [`FEW_PAIRS`], so nothing may be said.
    TooFewPairs,
    /// The sides' work is not counted alike, so nothing may be said.
    NotComparable,
}

impl Verdict {
    pub const fn words(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::NoDifference => "no difference",
            Verdict::TooFewPairs => "undecided",
            Verdict::NotComparable => "not comparable",
        }
    }
}

/// Fewer pairs than these make a 95 % interval too narrow: of five equal sides' ratios all fall on one side of 1 once in 16
/// times, of six once in 32.
pub const FEW_PAIRS: usize = 6;

/// What may be said of a ratio that rests on so many pairs.
pub fn verdict(ratio: &Interval, pairs: usize) -> Verdict {
    if pairs < FEW_PAIRS {
        Verdict::TooFewPairs
    } else if ratio.low > 1.0 {
        Verdict::Faster
    } else if ratio.high < 1.0 {
        Verdict::Slower
    } else {
        Verdict::NoDifference
    }
}

/// A small deterministic generator (SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Random(SplitMix64);

impl Random {
    /// The same seed gives the same numbers, on every machine.
    pub fn new(seed: u64) -> Random {
        Random(SplitMix64::seed_from_u64(seed))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `limit` (not 0). The bias of the multiplication is below `limit` / 2^64.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.bits()) * limit as u128) >> 64) as usize
    }

    /// One of several, at least one.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    pub fn coin(&mut self) -> bool {
        self.bits() >> 63 == 1
    }
}

/// The median; of an even number of values the mean of the two in the middle. `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    median_in_place(&mut sorted)
}

fn median_in_place(values: &mut [f64]) -> Option<f64> {
    let middle = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let odd = values.len() % 2 == 1;
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if odd {
        return Some(upper);
    }
    Some((below.iter().copied().fold(f64::NEG_INFINITY, f64::max) + upper) / 2.0)
}

/// Fewer values have no bootstrap interval worth the name: of seven its ends are the second and the sixth, which hold the median between
/// them in 87.5 % of cases.
const FEWEST_RESAMPLED: usize = 10;
/// Of fewer values even the lowest and the highest do not hold the median between them often enough.
const FEWEST_ORDERED: usize = 5;
/// Of fewer values of each of two sides no ratio has an interval.
const FEWEST_ON_A_SIDE: usize = 4;
/// How often an interval holds the truth.
const LEVEL: f64 = 0.95;

/// The median and its 95 % interval: of ten values or more the percentile bootstrap's, of five to nine by their order ([`of_order`]), of two
/// to four one that is as wide as Student's: of their logarithms ([`trimmed::geometric`]) where all are positive, else of the values
/// themselves. `None` of nothing; of one value without width.
pub fn bootstrap(values: &[f64], seed: u64) -> Option<Interval> {
    let median = median(values)?;
    if values.len() < FEWEST_ORDERED {
        if let Some(few) = trimmed::geometric(values) {
            let (low, high) = (median * few.low / few.median, median * few.high / few.median);
            return Some(Interval { median, low, high });
        }
        if let Some(half) = trimmed::half_width(values) {
            return Some(Interval { median, low: median - half, high: median + half });
        }
    } else if values.len() < FEWEST_RESAMPLED {
        let (low, high) = of_order(values);
        return Some(Interval { median, low, high });
    }
    let mut random = Random::new(seed);
    let mut resample = vec![0.0; values.len()];
    let mut medians = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        resample.fill_with(|| values[random.below(values.len())]);
        medians.extend(median_in_place(&mut resample));
    }
    medians.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| medians[((medians.len() - 1) as f64 * share).round() as usize];
    Some(Interval { median, low: at(0.025), high: at(0.975) })
}

/// How often the median lies between the n-th value from below and the n-th from above, whatever the values' distribution.
fn level(count: usize, depth: usize) -> f64 {
    let (mut outside, mut ways) = (0.0, 1.0);
    for below in 0..depth {
        outside += ways;
        ways *= (count - below) as f64 / (below + 1) as f64;
    }
    1.0 - 2.0 * outside / 2.0_f64.powi(count as i32)
}

/// The median's 95 % interval by order statistics, interpolated between the innermost that hold it at least as often and their neighbours (Hettmansperger
/// and Sheather 1986). Of five values it is their range, which holds it in 93.75 % of cases.
fn of_order(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = sorted.len();
    let depth = (1..count / 2).take_while(|depth| level(count, *depth) >= LEVEL).last().unwrap_or(1);
    let (outer, inner) = (level(count, depth), level(count, depth + 1));
    let part = ((outer - LEVEL) / (outer - inner)).max(0.0);
    let inwards = (count - depth) as f64 * part / (depth as f64 + (count - 2 * depth) as f64 * part);
    let between = |outer: f64, inner: f64| outer + inwards * (inner - outer);
    (between(sorted[depth - 1], sorted[depth]), between(sorted[count - depth], sorted[count - depth - 1]))
}

/// The ratio of two medians, b over a, with its 95 % percentile-bootstrap interval: each side is resampled by itself, since
/// nothing pairs a value of one with a value of the other. `None` unless both medians are above 0; if in more
/// than 2.5 % of the resamples that of `a` is 0, so that there is no upper end; and of fewer than four values on a side: with three, equal sides differ in
/// one case of ten.
pub fn ratio_of_medians(a: &[f64], b: &[f64], seed: u64) -> Option<Interval> {
    let above = |values: &[f64]| median(values).filter(|median| *median > 0.0);
    let ratio = above(b)? / above(a)?;
    if a.len().min(b.len()) < FEWEST_ON_A_SIDE {
        return None;
    }
    let mut random = Random::new(seed);
    let (mut of_a, mut of_b) = (vec![0.0; a.len()], vec![0.0; b.len()]);
    let mut ratios = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        of_a.fill_with(|| a[random.below(a.len())]);
        of_b.fill_with(|| b[random.below(b.len())]);
        let medians = median_in_place(&mut of_a).zip(median_in_place(&mut of_b));
        ratios.extend(medians.map(|(a, b)| if a > 0.0 { b / a } else { f64::INFINITY }));
    }
    ratios.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share).round() as usize];
    at(0.975).is_finite().then(|| Interval { median: ratio, low: at(0.025), high: at(0.975) })
}

/// The scatter of values around their median, as a share of it: 1.4826 x the median absolute deviation, which is the
/// standard deviation where values are normal, and does not care about a few that are far off.
pub fn scatter(values: &[f64]) -> Option<f64> {
    let centre = median(values).filter(|centre| *centre > 0.0)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    Some(1.4826 * median(&deviations)? / centre)
}

/// Two heaps of values with nothing between them: their centres, if the values are like that.
///
/// The best split into two (least squares) counts when each part has a fifth of the values and at least three, the centres
/// are 5 % apart, and further than four times the scatter within the parts.
pub fn two_heaps(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let least = 3.max(sorted.len().div_ceil(5));
    if sorted.len() < 2 * least {
        return None;
    }
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let squares = |part: &[f64]| {
        let centre = mean(part);
        part.iter().map(|value| (value - centre).powi(2)).sum::<f64>()
    };
    let cost = |split: usize| squares(&sorted[..split]) + squares(&sorted[split..]);
    let split = (least..=sorted.len() - least).min_by(|a, b| cost(*a).total_cmp(&cost(*b)))?;
    let (low, high) = (mean(&sorted[..split]), mean(&sorted[split..]));
    let within = (cost(split) / sorted.len() as f64).sqrt();
    (high - low > 4.0 * within && high - low > 0.05 * low).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn splitmix_gives_the_published_numbers() {
        // The first outputs for seed 1234567 of the reference implementation.
        let mut random = Random::new(1_234_567);
        assert_eq!([random.bits(), random.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
        assert!((0..1000).all(|_| random.below(7) < 7));
    }

    #[test]
    fn the_interval_of_a_median_agrees_with_order_statistics() {
        // For 1..=100 the exact binomial 95 % interval of the median is [40, 61].
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        let found = bootstrap(&values, 1).unwrap();
        assert_eq!(found.median, 50.5);
        assert!((39.0..=43.0).contains(&found.low) && (58.0..=62.0).contains(&found.high), "{found:?}");
        assert_eq!(bootstrap(&values, 1), bootstrap(&values, 1));
        assert_ne!(bootstrap(&values, 1), bootstrap(&values, 2));
    }

    #[test]
    fn the_interval_covers_the_true_median_about_95_times_in_100() {
        let mut random = Random::new(9);
        let covered = (0..200)
            .filter(|seed| {
                let values: Vec<f64> = (0..40).map(|_| random.below(1_000_000) as f64).collect();
                let found = bootstrap(&values, *seed).unwrap();
                found.low <= 500_000.0 && 500_000.0 <= found.high
            })
            .count();
        assert!((180..=199).contains(&covered), "{covered}");
    }

    #[test]
    fn few_values_have_an_interval_that_holds_the_truth_as_often() {
        let mut random = Random::new(5);
        // Positive ones by their logarithms, others as they are.
        for (count, truth) in (2..=12).flat_map(|count| [(count, 100.0), (count, -100.0)]) {
            let all = if count < FEWEST_RESAMPLED { 4000 } else { 1000 };
            let covered = (0..all)
                .filter(|seed| {
                    let values: Vec<f64> = (0..count).map(|_| truth + trimmed::normal(&mut random)).collect();
                    let found = bootstrap(&values, *seed).unwrap();
                    found.low <= truth && truth <= found.high
                })
                .count();
            // Three deviations of chance below 94 %; the range of five is an interval of 93.75 %.
            let least = 0.94 - 3.0 * (0.94_f64 * 0.06 / all as f64).sqrt();
            let share = covered as f64 / all as f64;
            assert!(share > least, "{share} with {count} values around {truth}");
        }
    }

    #[test]
    fn few_values_are_interpolated_between_their_order_statistics() {
        // The exact levels of seven values: the range holds the median in 98.4 % of cases, the second and the sixth in 87.5 %.
        assert_eq!((level(7, 1), level(7, 2)), (1.0 - 2.0 / 128.0, 0.875));
        // By hand: (0.984375 - 0.95) / 0.109375 = 0.3143; 6 of it over 1 + 5 of it.
        let found = bootstrap(&[7.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1).unwrap();
        assert!((found.low - 1.7333).abs() < 1e-4 && (found.high - 6.2667).abs() < 1e-4, "{found:?}");
        let five = bootstrap(&[5.0, 1.0, 2.0, 3.0, 4.0], 1).unwrap();
        assert_eq!(five, Interval { median: 3.0, low: 1.0, high: 5.0 });
    }

    #[test]
    fn few_values_of_which_one_is_not_positive_have_students_width() {
        // By hand: mean 0, squares 2, so s = 1; t(2) = 4.303.
        let found = bootstrap(&[-1.0, 0.0, 1.0], 1).unwrap();
        let half = 4.303 / 3.0_f64.sqrt();
        assert!((found.high - half).abs() < 1e-9 && (found.low + half).abs() < 1e-9, "{found:?}");
        assert_eq!(bootstrap(&[0.0], 1), Some(Interval::exactly(0.0)));
    }

    #[test]
    fn a_ratio_of_medians_has_an_interval_and_no_zero_below() {
        let a: Vec<f64> = (90..=110).map(f64::from).collect();
        let b: Vec<f64> = a.iter().map(|value| value * 2.0).collect();
        let found = ratio_of_medians(&a, &b, 1).unwrap();
        assert_eq!(found.median, 2.0);
        assert!((1.8..2.0).contains(&found.low) && (2.0..2.2).contains(&found.high), "{found:?}");
        assert_eq!(ratio_of_medians(&[0.0], &b, 1), None);
        assert_eq!(ratio_of_medians(&a, &[], 1), None);
        // Of every third resample the median is 0: whatever is cut off there would make the upper end lower.
        assert_eq!(ratio_of_medians(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0], &[1.0; 7], 1), None);
        assert_eq!(ratio_of_medians(&a, &b[..3], 1), None);
    }

    #[test]
    fn a_ratio_of_intervals_holds_all_that_two_values_of_them_give() {
        let base = Interval { median: 2.0, low: 1.0, high: 4.0 };
        for (low, high) in [(1.0, 3.0), (-1.0, 3.0), (-3.0, -1.0)] {
            let found = Interval { median: 1.0, low, high }.over(&base).unwrap();
            let all = [low, high].into_iter().flat_map(|a| [base.low, base.high].map(|b| a / b));
            let (least, most) =
                all.fold((f64::MAX, f64::MIN), |(least, most), one| (least.min(one), most.max(one)));
            assert_eq!((found.low, found.high), (least, most), "{low} {high}");
        }
        assert_eq!(Interval::exactly(1.0).over(&Interval { median: 1.0, low: 0.0, high: 2.0 }), None);
    }

    #[test]
    fn a_constant_has_no_width() {
        assert_eq!(bootstrap(&[2.0; 9], 3), Some(Interval { median: 2.0, low: 2.0, high: 2.0 }));
    }

    #[test]
    fn verdicts() {
        let of = |low, high| verdict(&Interval { median: 1.0, low, high }, 6);
        assert_eq!(of(0.99, 1.01), Verdict::NoDifference);
        assert_eq!(of(1.0, 1.3), Verdict::NoDifference);
        assert_eq!(of(1.01, 1.3), Verdict::Faster);
        assert_eq!(of(0.8, 0.99), Verdict::Slower);
        assert_eq!(verdict(&Interval { median: 2.0, low: 1.9, high: 2.1 }, 5), Verdict::TooFewPairs);
    }

    #[test]
    fn two_heaps_are_seen_and_one_is_not() {
        let mut random = Random::new(5);
        let mut near = |centre: f64| centre * (0.99 + 0.02 * random.below(1000) as f64 / 1000.0);
        let one: Vec<f64> = (0..40).map(|_| near(100.0)).collect();
        let two: Vec<f64> = (0..40).map(|i| near(if i % 3 == 0 { 100.0 } else { 150.0 })).collect();
        assert_eq!(two_heaps(&one), None);
        let (low, high) = two_heaps(&two).unwrap();
        assert!((98.0..102.0).contains(&low) && (148.0..152.0).contains(&high));
        assert_eq!(two_heaps(&[1.0, 2.0]), None);
        // A uniform spread is one heap, however wide.
        let uniform: Vec<f64> = (0..100).map(|i| 100.0 + f64::from(i)).collect();
        assert_eq!(two_heaps(&uniform), None);
    }

    #[test]
    fn scatter_does_not_care_about_a_few_far_off() {
        assert_eq!(scatter(&[100.0, 100.0, 100.0, 100.0, 9000.0]), Some(0.0));
        assert!(scatter(&[80.0, 100.0, 120.0]).unwrap() > 0.2);
        assert_eq!(scatter(&[]), None);
    }
}
