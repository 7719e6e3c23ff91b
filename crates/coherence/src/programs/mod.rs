//! What is simulated.

pub mod allocate;
pub mod counters;

use crate::machine::{Machine, Picoseconds};
use crate::simulation::SimulationResult;
use std::ops::Range;

/// A value alone on two lines, as everything that is measured is in reality.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Line<T>(pub T);

impl<T> Line<T> {
    /// Where it is.
    pub fn addresses(&self) -> Range<usize> {
        let start = (&raw const *self).addr();
        start..start + size_of::<Self>()
    }
}

/// What all programs want to know.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads.
    pub threads: u32,
    /// Whether threads stay on the CPUs on which they begin.
    pub pinned: bool,
    /// For everything that is left to chance.
    pub seed: u64,
    /// Simulated time in picoseconds.
    pub length: Picoseconds,
    /// Transfers to be kept one by one.
    pub events: usize,
}

impl Options {
    /// The CPU of a thread: cores first, then their other hardware threads.
    pub fn cpu(&self, machine: &Machine, thread: u32) -> u32 {
        let (cores, threads) = (machine.shape.cores(), machine.shape.threads);
        let thread = thread % machine.shape.cpus();
        (thread % cores) * threads + thread / cores
    }
}

/// What a program came to.
#[derive(Clone, Debug)]
pub struct Run {
    /// Operations: increments or objects.
    pub operations: u64,
    /// Compare and swaps of the program's own that found another value.
    pub lost: u64,
    /// Threads.
    pub threads: u32,
    /// Simulated time in picoseconds.
    pub length: Picoseconds,
    /// The rest.
    pub outcome: SimulationResult,
}

impl Run {
    fn new(operations: u64, lost: u64, options: &Options, outcome: SimulationResult) -> Run {
        Run { operations, lost, threads: options.threads, length: outcome.end, outcome }
    }

    /// Operations of all threads in a second.
    pub fn per_second(&self) -> f64 {
        self.operations as f64 / (self.length as f64 * 1e-12)
    }
}
