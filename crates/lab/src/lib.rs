//! Every layer of allocation measured by itself, beside what was published and what a simulation predicts.
//!
//! | part | what it is |
//! |---|---|
//! | [`experiments`] | the experiments, a folder each |
//! | [`counting`] | a kernel that several experiments use: threads that count |
//! | [`simulate`], [`mod@simulated`] | the same cells on a simulated machine with this machine's latencies |
//!
//! What an experiment is and how a run goes is the crate `experiment`; what a reader gets of a run, `lab-report`.

#![allow(missing_docs, reason = "not published")]

pub mod counting;
pub mod experiments;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
mod primitive;
pub mod simulate;
pub mod simulated;

pub use experiment::{Error, Result};
