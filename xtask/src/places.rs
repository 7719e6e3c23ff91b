//! Where what is built lies.

use crate::shell::root;
use jvm::install::Install;
use std::path::PathBuf;

/// Where the command finds the agent, the workloads and the benchmarks beside itself.
pub fn folder() -> PathBuf {
    root().join("target/release")
}

pub fn installed() -> Install {
    Install::at(vec![folder()])
}

/// Where tests of the command look for the same.
pub fn checked_folder() -> PathBuf {
    root().join("target/checked")
}
