//! What a run of the lab found: `results.json`. The field `schema` changes when a field changes meaning.

use crate::machine::page::HostDescription;
use crate::measured::MeasuredCell;
use crate::{Check, Declaration, Effort, Measured, Parameters};
use crate::{Error, Result};
use compare::noise::Disturbance;
use serde::{Deserialize, Serialize};
use statistics::Interval;
use std::path::Path;

/// The number of this layout.
pub const SCHEMA: u32 = 1;

/// A run of the lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    pub schema: u32,
    /// The way in which cells were measured ([`crate::session::store::METHOD`]); 0 in the results of versions that did not number it.
    #[serde(default)]
    pub method: u32,
    /// The version of terrace.
    pub terrace: String,
    pub effort: Effort,
    /// The command that measures the same again.
    pub command: String,
    /// When it began, in seconds since 1970.
    pub started_unix: u64,
    /// How long it took, in seconds, with all continuations.
    pub seconds: f64,
    /// Whether all of it was measured.
    pub state: State,
    pub machine: HostDescription,
    /// What else happened on the machine meanwhile.
    pub disturbance: Disturbance,
    /// The same short measurement, repeated through the run.
    pub canaries: Vec<Canary>,
    /// What the harness itself costs: a kernel's time through it over the time of a bare loop.
    pub overhead: Option<Interval>,
    pub experiments: Vec<Findings>,
    /// Cells of them, simulated on this machine. Not there in the results of versions that did not simulate: who reads them adds them.
    #[serde(default)]
    pub simulated: Vec<SimulatedCell>,
    /// What a reader must know of the whole run, each with its remedy.
    pub notes: Vec<String>,
}

/// Whether all of it was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// All cells were run as often as planned.
    #[default]
    Finished,
    /// It was interrupted, or only a part was chosen to continue it; `terrace lab run --resume` measures the rest.
    Interrupted,
    /// Some cells failed; their metrics say why.
    Failed,
}

/// The same short measurement, repeated through a run: what it shows is the machine, not an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Canary {
    pub name: String,
    pub unit: String,
    /// Seconds since the beginning of the run.
    pub at: Vec<f64>,
    pub values: Vec<f64>,
    pub interval: Option<Interval>,
    /// Robust scatter: 1.48 times the median deviation from the median, over the median.
    pub scatter: Option<f64>,
    /// The median of the last quarter over that of the first.
    pub drift: Option<f64>,
}

/// What an experiment found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Its words, metrics, plots and published values.
    pub declaration: Declaration,
    /// How often each cell was to be run.
    pub rounds: usize,
    /// Whether all cells were run.
    pub state: State,
    /// How long it took, in seconds.
    pub seconds: f64,
    pub cells: Vec<MeasuredCell>,
    /// The question's answer in a sentence, with numbers of this run.
    pub answer: String,
    /// The sources' claims, looked at here.
    pub checks: Vec<Check>,
    /// What a reader must know, each with its remedy.
    pub notes: Vec<String>,
}

/// The file of a run's results in its folder.
pub const FILE: &str = "results.json";

pub fn read(folder: &Path) -> Result<Results> {
    let path = folder.join(FILE);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Error::usage(format!(
            "{}: {error}; name the directory of a run, which 'terrace lab run' writes",
            path.display()
        ))
    })?;
    // The number first: a layout that is not ours would only give an obscure complaint about a field.
    let schema =
        serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|value| value["schema"].as_u64());
    if schema != Some(SCHEMA.into()) {
        return Err(Error::usage(format!(
            "{} has schema {}, but this terrace reads {SCHEMA}; run the experiments again",
            path.display(),
            schema.map_or("unknown".into(), |schema| schema.to_string())
        )));
    }
    serde_json::from_str(&text)
        .map_err(|error| Error::failed(format!("{}: {error}; run the experiments again", path.display())))
}

impl Findings {
    /// For looking values up.
    pub fn measured(&self) -> Measured<'_> {
        Measured { declaration: &self.declaration, cells: &self.cells }
    }
}

/// A cell that was measured and simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimulatedCell {
    pub experiment: String,
    /// The cell's values.
    pub parameters: Parameters,
    pub metric: String,
    pub unit: String,
    /// Measured: the median with its interval, in `unit`.
    pub measured: Interval,
    /// Simulated, in `unit`.
    pub simulated: f64,
    /// The least that is simulated when lines move as fast as the fastest transfer of the run, or as slowly as the slowest, in `unit`.
    pub low: f64,
    /// The most of it, in `unit`.
    pub high: f64,
    /// Simulated over measured.
    pub ratio: f64,
    /// Whether the ratio is within what counts as agreement of 1.
    pub agrees: bool,
    /// Whether the value says anything.
    pub origin: Origin,
    /// On what something was calibrated.
    pub basis: String,
}

/// Whether a simulated value says anything of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Something was chosen so that this very cell comes out: it agrees by construction.
    Calibrated,
    /// Nothing was chosen by this cell.
    Predicted,
}

impl Origin {
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Calibrated => "calibrated",
            Origin::Predicted => "predicted",
        }
    }
}
