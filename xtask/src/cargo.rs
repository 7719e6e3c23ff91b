//! The cargo that runs this.

use crate::shell::root;
use crate::{jdks, skipped};
use std::process::Command;

/// Tests that it runs find the JDKs that were installed here, and tell what they skip.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).env(skips::FILE, skipped::file()).envs(jdks::variable());
    command
}
