//! What one run of a cell gave.

use serde::{Deserialize, Serialize};
use statistics::Interval;
use std::collections::BTreeMap;

/// What one run of a cell gave: for each metric the values of its repetitions, or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// By the metric's key: one value, or one for each repetition inside the run.
    pub values: BTreeMap<String, Vec<f64>>,
    /// By the metric's key: what the run says as a whole, with its own interval. That knows nothing of what differs from process to
    /// process, so that several runs are taken together by these medians alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub estimates: BTreeMap<String, Interval>,
    /// By the metric's key: why it could not be had. Never a zero instead.
    pub unavailable: BTreeMap<String, String>,
    /// What a reader must know, each with its remedy.
    pub notes: Vec<String>,
    /// What was really in force: sizes, pages, flags; `null` when there is nothing to say.
    pub settings: serde_json::Value,
    /// JVMs that were compared; 0 where nothing was.
    #[serde(default)]
    pub processes: usize,
    /// The build of the agent that they were compared with: values of two builds are not mixed.
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

    /// A metric that could not be had.
    pub fn lacks(mut self, metric: &str, reason: impl Into<String>) -> Sample {
        self.unavailable.insert(metric.to_owned(), reason.into());
        self
    }

    /// What was in force.
    pub fn with_settings(mut self, settings: serde_json::Value) -> Sample {
        self.settings = settings;
        self
    }

    /// Something to know.
    pub fn note(mut self, note: impl Into<String>) -> Sample {
        self.notes.push(note.into());
        self
    }
}
