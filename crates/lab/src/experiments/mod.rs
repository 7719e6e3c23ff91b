//! The experiments, one file each.

pub mod atomics;
pub mod hab;
pub mod pages;
pub mod words;
pub mod zeroing;

use crate::experiment::Experiment;

/// All of them, in the order in which they are run and shown.
#[rustfmt::skip]
pub fn all() -> Vec<Experiment> {
    vec![
        atomics::experiment(),
        hab::experiment(),
        zeroing::experiment(),
        pages::experiment(),
    ]
}
