//! The experiments, one file each.

pub mod atomics;
pub mod hab;
pub mod latency;
pub mod tlab;
pub mod words;

use crate::experiment::Experiment;

/// All of them, in the order in which they are run and shown.
pub fn all() -> Vec<Experiment> {
    vec![atomics::experiment(), tlab::experiment(), hab::experiment(), latency::experiment()]
}
