//! Measuring: Java programs with Terrace and without, in pairs, and every layer of allocation by itself; and saying what the
//! difference is and how sure that is.
//!
//! | part | what it is |
//! |---|---|
//! | [`comparison`] | two ways of running one program, in pairs |
//! | [`experiment`] | what an experiment is |
//! | [`experiments`] | the experiments, one file each |
//! | [`session`] | a run of experiments: order, repetition, noise, resuming |
//! | [`results`] | what a run of experiments found |
//! | [`mod@simulated`] | the same cells on a simulated machine with this machine's latencies |
//! | [`report`] | results as a page, tables for the terminal, CSV, and the difference of two runs |
//! | [`native`] | kernels measured in this process |
//! | [`jvm`] | JDKs, command lines, running JVMs |
//! | [`statistics`], [`table`], [`progress`], [`size`] | what all share: intervals, and what the user sees |
//! | [`machine`], [`os`] | where it runs |

pub mod comparison;
pub mod error;
pub mod experiment;
pub mod experiments;
pub mod jvm;
pub mod machine;
pub mod native;
pub mod os;
mod primitive;
pub mod progress;
pub mod report;
pub mod results;
pub mod session;
pub mod simulated;
pub mod size;
pub mod statistics;
pub mod table;

#[cfg(test)]
extern crate self as terrace_lab;

pub use error::{Error, Result};
