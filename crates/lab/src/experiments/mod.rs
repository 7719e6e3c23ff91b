//! The experiments, one file each.

pub mod atomics;
pub mod hab;
pub mod latency;
pub mod pages;
pub mod tlab;
pub mod words;
pub mod zeroing;

use crate::experiment::Experiment;

/// All of them, in the order in which they are run and shown.
pub fn all() -> Vec<Experiment> {
    vec![
        atomics::experiment(),
        tlab::experiment(),
        hab::experiment(),
        zeroing::experiment(),
        pages::experiment(),
        latency::experiment(),
    ]
}
