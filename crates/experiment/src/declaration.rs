//! An experiment's words and data: what is asked, varied, measured, drawn, and what was published. Plain data that is kept
//! with the results, so that a report needs nothing else.

use super::value::{Parameters, Value, parameters};
use present::figure::Kind;
use serde::{Deserialize, Serialize};

/// What is asked and in what words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Declaration {
    /// A short name, as typed: `atomics`.
    pub name: String,
    pub title: String,
    /// As one sentence.
    pub question: String,
    /// Whose experiment it repeats.
    pub source: Option<Source>,
    /// What varies, in the order of tables.
    pub parameters: Vec<Parameter>,
    /// What is measured, the most important one first.
    pub metrics: Vec<Metric>,
    pub plots: Vec<Plot>,
    pub references: Vec<Reference>,
    /// Run only when it is named: it asks about Terrace itself, not about the machine, and may take hours.
    #[serde(default)]
    pub by_name: bool,
    /// The terminal shows every metric, in several tables, not only the first ones.
    #[serde(default)]
    pub shows_all: bool,
}

impl Declaration {
    /// The key of the most important metric; empty where there is none.
    pub fn first_metric(&self) -> &str {
        self.metrics.first().map_or("", |metric| &metric.key)
    }

    pub fn metric(&self, key: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.key == key)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    pub authors: String,
    pub title: String,
    /// The machine that it was measured on.
    pub machine: String,
}

impl Source {
    pub fn new(authors: &str, title: &str, machine: &str) -> Source {
        Source { authors: authors.into(), title: title.into(), machine: machine.into() }
    }
}

/// What varies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its key in cells.
    pub key: String,
    /// Its name in headings.
    pub name: String,
    /// Its unit, empty for words and plain numbers. `bytes` is shown as 4k, 2m and so on.
    pub unit: String,
}

impl Parameter {
    pub fn new(key: &str, name: &str, unit: &str) -> Parameter {
        Parameter { key: key.into(), name: name.into(), unit: unit.into() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less is better: times.
    Lower,
    /// More is better: rates.
    Higher,
    /// Neither: it explains.
    Neither,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Its key in samples.
    pub key: String,
    /// Its name in headings.
    pub name: String,
    pub unit: String,
    pub better: Better,
    /// How it comes about, as a formula in prose.
    pub definition: String,
    /// What must be known to read it rightly; may be empty.
    pub caveat: String,
    /// A slower machine changes it, although by its unit it is a ratio.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drifts: bool,
}

impl Metric {
    pub fn new(key: &str, name: &str, unit: &str, better: Better, definition: &str) -> Metric {
        Metric {
            key: key.into(),
            name: name.into(),
            unit: unit.into(),
            better,
            definition: definition.into(),
            caveat: String::new(),
            drifts: false,
        }
    }

    /// Whether a slower machine changes it. It changes times and rates, and what is counted in a fixed time; the sides of a ratio are
    /// interleaved, so that both are as much slower.
    pub fn follows_machine(&self) -> bool {
        self.drifts || self.unit != "ratio"
    }

    /// Of which less is better.
    pub fn lower(key: &str, name: &str, unit: &str) -> Metric {
        Metric::new(key, name, unit, Better::Lower, "")
    }

    /// Of which more is better.
    pub fn higher(key: &str, name: &str, unit: &str) -> Metric {
        Metric::new(key, name, unit, Better::Higher, "")
    }

    /// Which explains.
    pub fn neither(key: &str, name: &str, unit: &str) -> Metric {
        Metric::new(key, name, unit, Better::Neither, "")
    }

    pub fn drifts(mut self) -> Metric {
        self.drifts = true;
        self
    }

    pub fn is(mut self, definition: &str) -> Metric {
        self.definition = definition.into();
        self
    }

    pub fn caveat(mut self, caveat: &str) -> Metric {
        self.caveat = caveat.into();
        self
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    pub title: String,
    /// What to look for.
    pub caption: String,
    pub kind: Kind,
    pub metric: String,
    /// The parameter across.
    pub x: String,
    /// Parameters of which every combination is a line, a group of bars, or with [`Kind::Heat`] a row.
    pub series: Vec<String>,
    /// Parameters of which every combination is a picture of its own.
    pub panels: Vec<String>,
    /// Only cells with these values.
    pub only: Parameters,
    pub log_x: bool,
    pub log_y: bool,
}

impl Plot {
    /// A plot of a metric over a parameter, a line (or group of bars) for each combination of `series`.
    pub fn new(kind: Kind, title: &str, metric: &str, x: &str, series: &[&str]) -> Plot {
        Plot {
            title: title.into(),
            caption: String::new(),
            kind,
            metric: metric.into(),
            x: x.into(),
            series: series.iter().map(|key| (*key).into()).collect(),
            panels: Vec::new(),
            only: Parameters::new(),
            log_x: false,
            log_y: false,
        }
    }

    pub fn caption(mut self, caption: &str) -> Plot {
        self.caption = caption.into();
        self
    }

    /// A picture for each combination of these parameters.
    pub fn panels(mut self, keys: &[&str]) -> Plot {
        self.panels = keys.iter().map(|key| (*key).into()).collect();
        self
    }

    /// Only cells with these values.
    pub fn only<const N: usize>(mut self, pairs: [(&str, Value); N]) -> Plot {
        self.only = parameters(pairs);
        self
    }

    pub fn log_x(mut self) -> Plot {
        self.log_x = true;
        self
    }

    pub fn log_y(mut self) -> Plot {
        self.log_y = true;
        self
    }
}

/// A published value. It was not measured in this run and is never shown as if it were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Where it comes from, short enough for a legend: `Opsian, Core i7-4770`.
    pub label: String,
    pub metric: String,
    /// Where it belongs among the cells; parameters that the source does not give are absent.
    pub parameters: Parameters,
    /// The value in the metric's unit.
    pub value: f64,
}

impl Reference {
    pub fn new<const N: usize>(label: &str, metric: &str, at: [(&str, Value); N], value: f64) -> Reference {
        Reference { label: label.into(), metric: metric.into(), parameters: parameters(at), value }
    }
}
