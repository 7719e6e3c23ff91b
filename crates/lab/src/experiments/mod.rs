//! The experiments, a folder each: `docs/architecture.md` adds one.

pub mod atomics;
pub mod hab;
pub mod latency;
pub mod pages;
pub mod simulate;
pub mod tlab;
pub mod zeroing;

use crate::experiment::Experiment;
use crate::simulated::Simulation;

/// All of them, in the order in which they are run and shown, each with its simulated counterpart.
fn list() -> Vec<(Experiment, Option<Simulation>)> {
    vec![
        (atomics::experiment(), Some(atomics::simulated::SIMULATION)),
        (tlab::experiment(), Some(tlab::simulated::SIMULATION)),
        (hab::experiment(), Some(hab::simulated::SIMULATION)),
        (zeroing::experiment(), None),
        (pages::experiment(), None),
        (latency::experiment(), None),
    ]
}

/// All experiments, in the order in which they are run and shown.
pub fn all() -> Vec<Experiment> {
    list().into_iter().map(|(experiment, _)| experiment).collect()
}

/// How the cells of the experiment with this name are simulated.
fn simulation(name: &str) -> Option<Simulation> {
    list().into_iter().find(|(experiment, _)| experiment.declaration.name == name)?.1
}
