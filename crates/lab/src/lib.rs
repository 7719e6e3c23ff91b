//! Experiments on Java programs: start them with or without Terrace, measure both sides in pairs, and say what the
//! difference is and how sure that is.
//!
//! | part | what it is |
//! |---|---|
//! | [`comparison`] | the one call: what to compare, and how; gives an [`result::Outcome`] |
//! | [`windows`], [`process`] | buffers on and off in turn inside one JVM |
//! | [`forks`] | whole JVMs in turn, A B B A |
//! | [`measure`], [`statistics`], [`summary`] | from what was counted to ratios with intervals |
//! | [`result`], [`table`], [`progress`] | what the user sees |
//! | [`jdk`], [`install`], [`agent`], [`workload`], [`launch`] | what is started, and how |
//! | [`observe`], [`progress_file`], [`status`] | looking into a running JVM |
//!
//! A comparison that failed is an [`Error`], never a ratio.

pub mod agent;
pub mod comparison;
pub mod error;
pub mod forks;
pub mod install;
pub mod jdk;
pub mod launch;
pub mod machine;
pub mod measure;
pub mod observe;
pub mod os;
mod primitive;
pub mod process;
pub mod progress;
pub mod progress_file;
pub mod result;
mod running;
pub mod size;
pub mod statistics;
pub mod status;
pub mod summary;
pub mod table;
pub mod windows;
pub mod workload;

pub use error::{Error, Result};
