//! What was measured, as claims and answers look it up.

use super::declaration::Declaration;
use super::sample::Sample;
use super::value::{Parameters, Value};
use serde::{Deserialize, Serialize};
use statistics::trimmed::{geometric, ratio_of_counts};
use statistics::{Interval, bootstrap};
use std::collections::{BTreeMap, BTreeSet};

/// The answer where nothing was measured that would give one.
pub const NO_ANSWER: &str =
    "No cell that answers it was measured; see each cell for the reason, or run more of them.";

/// Why a ratio of counts is not there.
pub const NONE_BELOW: &str = "the baseline had none; increase --seconds";

/// What is known of a metric in a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Quantity {
    Known {
        /// The median of all values with its 95 % interval ([`bootstrap`]); of estimates see [`Quantity::of_runs`].
        #[serde(flatten)]
        interval: Interval,
        /// The values in the order in which they were measured; where runs are taken together, one of each.
        values: Vec<f64>,
    },
    Unavailable {
        unavailable: String,
    },
}

impl Quantity {
    /// From values; none are unavailable for the reason given.
    pub fn of(values: Vec<f64>, reason: &str) -> Quantity {
        match bootstrap(&values, 1) {
            Some(interval) => Quantity::Known { interval, values },
            None => Quantity::unavailable(reason.to_owned()),
        }
    }

    pub fn unavailable(reason: String) -> Quantity {
        Quantity::Unavailable { unavailable: reason }
    }

    /// From what whole runs say. Of several: their geometric mean, with an interval that has in it what differs from run to run. Of one:
    /// its own interval, which has not.
    pub fn of_runs(estimates: &[Interval]) -> Quantity {
        let values: Vec<f64> = estimates.iter().map(|estimate| estimate.median).collect();
        let together = match estimates {
            [one] => Some(*one),
            _ => geometric(&values),
        };
        match together {
            Some(interval) => Quantity::Known { interval, values },
            None => Quantity::of(values, "not measured"),
        }
    }

    /// From a cell's runs; `reason` is why there are none. A metric that only some of them have is not that of all: a percentile takes many
    /// operations, a ratio of collections some collections, so that only the fastest would count, or only those that collect most.
    pub fn of_samples(metric: &str, samples: &[&Sample], reason: &str) -> Quantity {
        let totals: Vec<[f64; 2]> =
            samples.iter().filter_map(|sample| sample.totals.get(metric).copied()).collect();
        if totals.len() == samples.len() && !totals.is_empty() {
            return Quantity::of_totals(&totals);
        }
        let wholes: Vec<Option<Interval>> = samples.iter().map(|sample| sample.whole(metric)).collect();
        let numbers: Vec<Vec<f64>> = samples.iter().map(|sample| sample.numbers(metric)).collect();
        let known = wholes.iter().zip(&numbers).filter(|(whole, own)| whole.is_some() || !own.is_empty());
        match known.count() {
            0 if samples.is_empty() => Quantity::unavailable(reason.to_owned()),
            0 => {
                let own = samples.iter().find_map(|sample| sample.unavailable.get(metric));
                Quantity::unavailable(own.map_or("not measured in this cell", String::as_str).to_owned())
            }
            some if some < samples.len() => {
                Quantity::unavailable(format!("in {some} of {} runs only", samples.len()))
            }
            _ if wholes.iter().all(Option::is_none) => Quantity::of(numbers.concat(), reason),
            _ => {
                let whole = |(whole, own): (Option<Interval>, Vec<f64>)| whole.or_else(|| bootstrap(&own, 1));
                let wholes: Vec<Interval> = wholes.into_iter().zip(numbers).filter_map(whole).collect();
                Quantity::of_runs(&wholes)
            }
        }
    }

    fn of_totals(runs: &[[f64; 2]]) -> Quantity {
        let Some(interval) = ratio_of_counts(runs) else {
            return Quantity::unavailable(NONE_BELOW.to_owned());
        };
        let ratios = runs.iter().map(|[above, below]| above / below);
        Quantity::Known { interval, values: ratios.filter(|ratio| ratio.is_finite()).collect() }
    }

    /// How many times another interval, with the scatter of both: see [`Interval::over`]. `None` of what is not known.
    pub fn over(&self, base: Interval) -> Option<Quantity> {
        match self {
            Quantity::Known { interval, values } => Some(Quantity::Known {
                interval: interval.over(&base)?,
                values: values.iter().map(|value| value / base.median).collect(),
            }),
            Quantity::Unavailable { .. } => None,
        }
    }

    /// The same in another unit, or the other way up.
    pub fn map(self, to: impl Fn(f64) -> f64) -> Quantity {
        match self {
            Quantity::Known { interval: Interval { median, low, high }, values } => {
                let (one, other) = (to(low), to(high));
                let interval = Interval { median: to(median), low: one.min(other), high: one.max(other) };
                Quantity::Known { interval, values: values.into_iter().map(to).collect() }
            }
            unavailable => unavailable,
        }
    }

    pub fn interval(&self) -> Option<Interval> {
        match self {
            Quantity::Known { interval, .. } => Some(*interval),
            Quantity::Unavailable { .. } => None,
        }
    }
}

/// A cell with all its runs taken together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredCell {
    pub parameters: Parameters,
    pub runs: usize,
    pub metrics: BTreeMap<String, Quantity>,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// What was in force in the last run.
    pub settings: serde_json::Value,
    /// By the metric's key: the single values of native kernels' runs, where a run of several is one value. Their modes are not in its median.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub repetitions: BTreeMap<String, Vec<f64>>,
    /// JVMs that were measured in all runs: an interval of one tells nothing of another. 0 where the lab itself was, and in the
    /// results of versions that did not count them.
    #[serde(default)]
    pub processes: usize,
    /// The machine or the JDK lacks what it needs: it takes no part in what is said of all cells.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub impossible: bool,
    /// The keys of metrics that it cannot have, however often it is run: it takes no part in what is said of them in all cells.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub inapplicable: BTreeSet<String>,
}

impl MeasuredCell {
    /// Whether it cannot have a value of this metric here.
    pub fn cannot_have(&self, metric: &str) -> bool {
        self.impossible || self.inapplicable.contains(metric)
    }

    /// All that was measured of a metric, one by one; empty where that is not known.
    pub fn single_values(&self, metric: &str) -> &[f64] {
        match (self.repetitions.get(metric), self.metrics.get(metric)) {
            (Some(repetitions), _) => repetitions,
            (None, Some(Quantity::Known { values, .. })) => values,
            (None, _) => &[],
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    pub declaration: &'a Declaration,
    pub cells: &'a [MeasuredCell],
}

impl<'a> Measured<'a> {
    pub fn select(&self, at: &[(&str, Value)]) -> impl Iterator<Item = &'a MeasuredCell> {
        let at: Vec<(String, Value)> =
            at.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        self.cells
            .iter()
            .filter(move |cell| at.iter().all(|(key, value)| cell.parameters.get(key) == Some(value)))
    }

    /// A metric of the first such cell, if it was measured.
    pub fn get(&self, metric: &str, at: &[(&str, Value)]) -> Option<Interval> {
        self.select(at).find_map(|cell| cell.metrics.get(metric)?.interval())
    }

    pub fn median(&self, metric: &str, at: &[(&str, Value)]) -> Option<f64> {
        self.get(metric, at).map(|interval| interval.median)
    }

    /// A number in the settings of such cells: the first that is found.
    pub fn setting(&self, key: &str, at: &[(&str, Value)]) -> Option<f64> {
        self.select(at).find_map(|cell| cell.settings.get(key)?.as_f64())
    }

    /// The different values of a parameter among cells where the metric was measured, numbers in ascending order, words as met.
    pub fn values(&self, key: &str, metric: &str) -> Vec<Value> {
        let mut found: Vec<Value> = Vec::new();
        for cell in self.cells {
            let known = cell.metrics.get(metric).is_some_and(|quantity| quantity.interval().is_some());
            if let Some(value) = cell.parameters.get(key).filter(|value| known && !found.contains(value)) {
                found.push(value.clone());
            }
        }
        if found.iter().all(|value| value.number().is_some()) {
            found.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        }
        found
    }
}

/// A claim of a source, and whether it holds here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    pub claim: String,
    /// Where it was published; empty in the results of versions that did not keep it.
    #[serde(default)]
    pub source: String,
    /// What was found here, with numbers.
    pub found: String,
    /// Whether it holds here; `null` when that cannot be told, and `found` says why.
    pub holds: Option<bool>,
}

impl Check {
    /// A claim and whether it holds; `None` for what cannot be told.
    pub fn new(claim: &str, found: impl Into<String>, holds: Option<bool>) -> Check {
        Check { claim: claim.into(), source: String::new(), found: found.into(), holds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters;

    fn cell(threads: u32, values: &[f64]) -> MeasuredCell {
        MeasuredCell {
            parameters: parameters([("threads", threads.into()), ("layout", "shared".into())]),
            metrics: [("ns".to_owned(), Quantity::of(values.to_vec(), "not run"))].into(),
            ..MeasuredCell::default()
        }
    }

    #[test]
    fn cells_are_found_by_some_of_their_values() {
        let declaration = Declaration::default();
        let cells = [cell(2, &[4.0, 6.0, 5.0]), cell(1, &[1.0]), cell(4, &[])];
        let measured = Measured { declaration: &declaration, cells: &cells };
        assert_eq!(measured.median("ns", &[("threads", 2_u32.into())]), Some(5.0));
        assert_eq!(measured.median("ns", &[("threads", 4_u32.into())]), None);
        assert_eq!(measured.median("ops", &[("threads", 2_u32.into())]), None);
        assert_eq!(measured.values("threads", "ns"), [Value::Number(1.0), Value::Number(2.0)]);
        assert_eq!(measured.select(&[("layout", "shared".into())]).count(), 3);
    }

    #[test]
    fn an_interval_over_processes_has_in_it_what_differs_between_them() {
        let narrow = |median: f64| Interval { median, low: median * 0.99, high: median * 1.01 };
        assert_eq!(Quantity::of_runs(&[narrow(2.0)]).interval(), Some(narrow(2.0)));
        let both = Quantity::of_runs(&[narrow(2.0), narrow(8.0)]).interval().unwrap();
        assert!((both.median - 4.0).abs() < 1e-9 && both.low < 2.0 && both.high > 8.0, "{both:?}");
    }

    #[test]
    fn a_metric_that_only_some_runs_have_is_not_that_of_all() {
        for processes in [1, 2] {
            let run = |speed| Sample { processes, ..Sample::default() }.value("speed", speed);
            let runs = [run(1.0).value("p99", 2.0), run(1.1), run(1.2).value("p99", 3.0)];
            let samples: Vec<&Sample> = runs.iter().collect();
            let of = |metric| Quantity::of_samples(metric, &samples, "not run");
            assert!(of("speed").interval().is_some());
            assert_eq!(of("p99"), Quantity::unavailable("in 2 of 3 runs only".into()), "{processes} JVMs");
            assert_eq!(of("p50"), Quantity::unavailable("not measured in this cell".into()));
            assert_eq!(
                Quantity::of_samples("speed", &[], "not run"),
                Quantity::unavailable("not run".into())
            );
        }
    }

    #[test]
    fn ratios_of_counts_are_those_of_their_sums() {
        let of = |runs: &[[f64; 2]]| {
            let runs: Vec<Sample> = runs.iter().map(|[a, b]| Sample::default().total("c", *a, *b)).collect();
            Quantity::of_samples("c", &runs.iter().collect::<Vec<_>>(), "not run")
        };
        // In the second run the baseline had none: its ratio is infinite, and it counts like the others.
        let Quantity::Known { interval, values } = of(&[[1.0, 4.0], [1.0, 0.0], [1.0, 2.0]]) else {
            panic!()
        };
        assert_eq!((interval.median, values), (0.5, vec![0.25, 0.5]));
        // By hand: influences 1/3 - 4/6, 1/3, 0; their squares 2/9, times 3/2 is 1/3; t(2) = 4.303.
        assert!((interval.high.ln() - interval.median.ln() - 4.303 / 3.0_f64.sqrt()).abs() < 1e-9);
        assert!((interval.low * interval.high - 0.25).abs() < 1e-9, "{interval:?}");
        assert_eq!(of(&[[1.0, 0.0], [2.0, 0.0]]), Quantity::unavailable(NONE_BELOW.into()));
        // None of three is not exactly none.
        let none = of(&[[0.0, 1.0], [0.0, 2.0]]).interval().unwrap();
        assert!(none.median == 0.0 && (none.high - 40.0_f64.ln() / 3.0).abs() < 1e-9, "{none:?}");
        assert_eq!(of(&[[1.0, 2.0]]).interval(), Some(Interval::exactly(0.5)));
    }

    #[test]
    fn a_ratio_of_quantities_has_the_scatter_of_both() {
        let base = Interval { median: 4.0, low: 2.0, high: 5.0 };
        let ratio = Quantity::of(vec![8.0], "").over(base).unwrap();
        assert_eq!(ratio.interval(), Some(Interval { median: 2.0, low: 1.6, high: 4.0 }));
        let turned = ratio.map(|ratio| 1.0 / ratio);
        assert_eq!(turned.interval(), Some(Interval { median: 0.5, low: 0.25, high: 0.625 }));
        assert!(matches!(&turned, Quantity::Known { values, .. } if *values == [0.5]));
        assert_eq!(Quantity::of(vec![], "none").over(base), None);
    }

    #[test]
    fn what_was_not_measured_says_why_in_json() {
        let text = serde_json::to_string(&Quantity::of(vec![], "no counters in this machine")).unwrap();
        assert_eq!(text, r#"{"unavailable":"no counters in this machine"}"#);
        let known = Quantity::of(vec![2.0], "");
        assert_eq!(
            serde_json::to_string(&known).unwrap(),
            r#"{"median":2.0,"low":2.0,"high":2.0,"values":[2.0]}"#
        );
        assert_eq!(serde_json::from_str::<Quantity>(&serde_json::to_string(&known).unwrap()).unwrap(), known);
    }

    #[test]
    fn checks_of_older_results_have_no_source() {
        let old = r#"{"claim":"XADD beats CAS","found":"2.63x","holds":null}"#;
        assert_eq!(serde_json::from_str::<Check>(old).unwrap(), Check::new("XADD beats CAS", "2.63x", None));
    }
}
