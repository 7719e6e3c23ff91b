//! The cargo that runs this.

use crate::shell::root;
use crate::{jdks, skipped};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Tests that it runs find the JDKs that were installed here, and tell what they skip.
pub fn cargo() -> Command {
    with_variables(Command::new(program()))
}

/// The same, for what others have to come before: it gets what they leave of the processors.
pub fn behind() -> Command {
    let mut command = Command::new("nice");
    command.args(["-n", "10"]).arg(program());
    with_variables(command)
}

/// A test program that cargo has built, as cargo runs it.
pub fn test_program(file: &Path, folder: &Path) -> Command {
    let mut command = with_variables(Command::new(file));
    command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
    command
}

fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn with_variables(mut command: Command) -> Command {
    command.current_dir(root()).env(skips::FILE, skipped::file()).envs(jdks::variable());
    command
}
