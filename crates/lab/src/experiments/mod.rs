//! The experiments, one file each.

pub mod hab;
pub mod tlab;

use crate::experiment::Experiment;

/// All of them, in the order in which they are run and shown.
pub fn all() -> Vec<Experiment> {
    vec![tlab::experiment(), hab::experiment()]
}
