//! Cells, and how each is run.

use super::bench::Bench;
use super::jmh::Jmh;
use super::measured::Quantity;
use super::sample::Sample;
use super::value::Parameters;
use crate::{Error, Result};
use compare::estimate::half_width;

#[derive(Default)]
pub struct Plan {
    /// In the order of the first round; every second round goes backwards.
    pub cells: Vec<Cell>,
    pub rounds: usize,
    /// What a reader must know of the plan: what was left out and why, what was scaled.
    pub notes: Vec<String>,
    /// Half of the interval's width, as a share, at which a compared cell needs no further rounds.
    pub precision: Option<f64>,
}

/// Fewer rounds than these say nothing of their own scatter.
const FEWEST_ROUNDS: usize = 4;

impl Plan {
    /// Whether a cell's runs are as precise as was asked, by the width of this metric's interval alone and never by where it lies.
    pub fn is_precise(&self, metric: &str, samples: &[&Sample]) -> bool {
        let estimates: Vec<_> = samples.iter().filter_map(|sample| sample.whole(metric)).collect();
        let width = || Quantity::of_runs(&estimates).interval().map(|interval| half_width(&interval));
        estimates.len() >= FEWEST_ROUNDS
            && self.precision.is_some_and(|precision| width().is_some_and(|width| width <= precision))
    }

    /// About how long all runs of all cells take, in seconds.
    pub fn seconds(&self) -> f64 {
        let runs = self.cells.iter().filter(|cell| !matches!(cell.runner, Runner::Unavailable(_)));
        runs.map(|cell| cell.seconds).fold(0.0, std::ops::Add::add) * self.rounds as f64
    }
}

/// One combination of parameters.
pub struct Cell {
    pub parameters: Parameters,
    /// About how many seconds a run takes, for the time left.
    pub seconds: f64,
    pub runner: Runner,
}

impl Cell {
    /// A cell that cannot be run here, and why.
    pub fn unavailable(parameters: Parameters, reason: impl Into<String>) -> Cell {
        Cell { parameters, seconds: 0.0, runner: Runner::Unavailable(reason.into()) }
    }

    /// The cell that stands for all that need a JDK, where there is none.
    pub fn without_jdk(parameters: Parameters) -> Cell {
        Cell::unavailable(parameters, "no JDK 17, 21 or 25 found; install one, or name it with --java HOME")
    }
}

pub enum Runner {
    /// A function in this process.
    Native(Box<dyn Fn() -> Result<Sample>>),
    /// A JMH benchmark in a JVM of its own.
    Jmh(Box<Jmh>),
    /// It cannot be run here, and why.
    Unavailable(String),
}

impl Runner {
    /// A function in this process.
    pub fn native(function: impl Fn() -> Result<Sample> + 'static) -> Runner {
        Runner::Native(Box::new(function))
    }

    pub fn run(&self, bench: &Bench) -> Result<Sample> {
        match self {
            Runner::Native(function) => function(),
            Runner::Jmh(jmh) => jmh.run(bench),
            Runner::Unavailable(reason) => Err(Error::failed(reason.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statistics::Interval;

    #[test]
    fn a_cell_is_precise_by_what_differs_between_its_runs() {
        let run = |median: f64| {
            Sample::default().estimate("speed", Interval { median, low: 0.5 * median, high: 2.0 * median })
        };
        let runs = [1.0, 1.001, 0.999, 1.0, 1.2].map(run);
        let runs: Vec<&Sample> = runs.iter().collect();
        let plan = Plan { precision: Some(0.015), ..Plan::default() };
        assert!(!plan.is_precise("speed", &runs[..3]) && plan.is_precise("speed", &runs[..4]));
        assert!(!plan.is_precise("speed", &runs) && !Plan::default().is_precise("speed", &runs[..4]));
    }
}
