//! Cells, and how each is run.

use super::bench::Bench;
use super::jmh::Jmh;
use super::sample::Sample;
use super::value::Parameters;
use crate::{Error, Result};

/// The cells of an experiment.
#[derive(Default)]
pub struct Plan {
    /// In the order of the first round; every second round goes backwards.
    pub cells: Vec<Cell>,
    /// How often every cell is run.
    pub rounds: usize,
    /// What a reader must know of the plan: what was left out and why, what was scaled.
    pub notes: Vec<String>,
}

impl Plan {
    /// About how long all runs of all cells take, in seconds.
    pub fn seconds(&self) -> f64 {
        let runs = self.cells.iter().filter(|cell| !matches!(cell.runner, Runner::Unavailable(_)));
        runs.map(|cell| cell.seconds).sum::<f64>() * self.rounds as f64
    }
}

/// One combination of parameters.
pub struct Cell {
    /// Its values.
    pub parameters: Parameters,
    /// About how many seconds a run takes, for the time left.
    pub seconds: f64,
    /// How it is run.
    pub runner: Runner,
}

/// How a cell is run.
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

    /// Runs it once.
    pub fn run(&self, bench: &Bench) -> Result<Sample> {
        match self {
            Runner::Native(function) => function(),
            Runner::Jmh(jmh) => jmh.run(bench),
            Runner::Unavailable(reason) => Err(Error::failed(reason.clone())),
        }
    }
}
