//! What one run of a cell gave.

use serde::{Deserialize, Serialize};
use statistics::{Interval, bootstrap};
use std::collections::{BTreeMap, BTreeSet};

/// What one run of a cell gave: for each metric the values of its repetitions, or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// By the metric's key: one value, or one for each repetition inside the run.
    pub values: BTreeMap<String, Vec<f64>>,
    /// By the metric's key: what the run says as a whole, with its own interval. That knows nothing of what differs from process to
    /// process, so that several runs are taken together by these medians alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub estimates: BTreeMap<String, Interval>,
    /// By the metric's key: what is above and what is below the line of a ratio of counts. Runs are taken together by their sums: one in which
    /// nothing was counted below the line has no ratio, and belongs to them like any other.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub totals: BTreeMap<String, [f64; 2]>,
    /// By the metric's key: why it could not be had. Never a zero instead.
    pub unavailable: BTreeMap<String, String>,
    /// The keys of unavailable metrics that this cell cannot have, however often it is run.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub inapplicable: BTreeSet<String>,
    /// What a reader must know, each with its remedy.
    pub notes: Vec<String>,
    /// What was really in force: sizes, pages, flags; `null` when there is nothing to say.
    pub settings: serde_json::Value,
    /// JVMs that were measured; 0 where the lab itself was.
    #[serde(default)]
    pub processes: usize,
    /// The build of the agent that was there: values of two builds are not mixed.
    #[serde(default)]
    pub agent: Option<String>,
}

impl Sample {
    pub fn value(mut self, metric: &str, value: f64) -> Sample {
        self.add(metric, value);
        self
    }

    pub fn add(&mut self, metric: &str, value: f64) {
        self.values.entry(metric.to_owned()).or_default().push(value);
    }

    /// What the run says as a whole.
    pub fn estimate(mut self, metric: &str, interval: Interval) -> Sample {
        self.estimates.insert(metric.to_owned(), interval);
        self
    }

    /// A ratio of counts.
    pub fn total(mut self, metric: &str, above: f64, below: f64) -> Sample {
        self.totals.insert(metric.to_owned(), [above, below]);
        self
    }

    /// What the run says of a metric as a whole, if its values are not independent: windows and iterations of one JVM share what differs
    /// from JVM to JVM, and repetitions of a native kernel where its memory lies and where its threads run. What is no number is left out.
    pub fn whole(&self, metric: &str) -> Option<Interval> {
        let of_one = || {
            let values = self.values.get(metric)?;
            let share = self.processes == 1 || (self.processes == 0 && values.len() > 1);
            share.then(|| bootstrap(&numbers(values), 1)).flatten()
        };
        let is_number = |estimate: &Interval| estimate.median.is_finite();
        self.estimates.get(metric).copied().filter(is_number).or_else(of_one)
    }

    /// The values of a metric that are numbers.
    pub fn numbers(&self, metric: &str) -> Vec<f64> {
        self.values.get(metric).map(|values| numbers(values)).unwrap_or_default()
    }

    /// Leaves out values that are not finite; a metric that has no others is unavailable.
    pub fn drop_what_is_no_number(&mut self) {
        self.values.values_mut().for_each(|values| values.retain(|value| value.is_finite()));
        let mut lost: Vec<String> = Vec::new();
        let mut keep = |metric: &String, is_number: bool| {
            if !is_number {
                lost.push(metric.clone());
            }
            is_number
        };
        self.values.retain(|metric, values| keep(metric, !values.is_empty()));
        self.estimates.retain(|metric, Interval { median, low, high }| {
            keep(metric, [median, low, high].iter().all(|end| end.is_finite()))
        });
        self.totals.retain(|metric, parts| keep(metric, parts.iter().all(|part| part.is_finite())));
        for metric in lost {
            let reason = || "the run gave what is not a number, such as a rate in no time".to_owned();
            self.unavailable.entry(metric).or_insert_with(reason);
        }
    }

    /// A metric that could not be had.
    pub fn lacks(mut self, metric: &str, reason: impl Into<String>) -> Sample {
        self.unavailable.insert(metric.to_owned(), reason.into());
        self
    }

    /// A metric that this cell cannot have, however often it is run.
    pub fn cannot_have(mut self, metric: &str, reason: impl Into<String>) -> Sample {
        self.inapplicable.insert(metric.to_owned());
        self.lacks(metric, reason)
    }

    pub fn with_settings(mut self, settings: serde_json::Value) -> Sample {
        self.settings = settings;
        self
    }

    pub fn note(mut self, note: impl Into<String>) -> Sample {
        self.notes.push(note.into());
        self
    }
}

/// A rate of nothing in no time is none.
fn numbers(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| value.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_run_are_one_estimate_and_those_of_several_jvms_are_not() {
        let of = |processes| {
            let sample = Sample { processes, ..Sample::default() };
            [4.0, 4.5, 5.0, 5.5, 6.0].iter().fold(sample, |sample, value| sample.value("ns", *value))
        };
        for processes in [0, 1] {
            let whole = of(processes).whole("ns").unwrap();
            assert_eq!((whole.median, whole.low, whole.high), (5.0, 4.0, 6.0));
        }
        assert_eq!(of(2).whole("ns"), None);
        assert_eq!(Sample::default().value("ns", 4.0).whole("ns"), None, "a kernel that ran once");
        let own = Interval { median: 5.0, low: 4.9, high: 5.1 };
        assert_eq!(of(1).estimate("ns", own).whole("ns"), Some(own));
        assert_eq!(of(1).whole("rate"), None);
        for processes in [0, 1] {
            let disturbed = of(processes).value("ns", f64::NAN).value("ns", f64::INFINITY);
            assert_eq!(disturbed.whole("ns"), of(processes).whole("ns"));
            assert_eq!(disturbed.value("rate", f64::NAN).value("rate", f64::NAN).whole("rate"), None);
        }
    }
}
