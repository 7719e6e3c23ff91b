//! Every layer of allocation measured by itself, beside what was published and what a simulation predicts.
//!
//! | part | what it is |
//! |---|---|
//! | [`experiment`] | what an experiment is |
//! | [`experiments`] | the experiments, one file each |
//! | [`session`] | a run of experiments: order, repetition, noise, resuming |
//! | [`results`] | what a run of experiments found |
//! | [`mod@simulated`] | the same cells on a simulated machine with this machine's latencies |
//! | [`report`] | results as a page, tables for the terminal, CSV, and the difference of two runs |
//! | [`native`] | kernels measured in this process |
//! | [`machine`] | where it runs |

#![allow(missing_docs, reason = "not published")]

pub mod experiment;
pub mod experiments;
pub mod machine;
pub mod native;
mod primitive;
pub mod report;
pub mod results;
pub mod session;
pub mod simulated;

#[cfg(test)]
extern crate self as terrace_lab;

pub use jvm::{Error, Result};
