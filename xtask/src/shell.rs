//! Running other programs, visibly.

use jvm::{Error, Result};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

/// The workspace's folder.
pub fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or(here.clone(), PathBuf::from)
}

/// The cargo that runs this. Tests that it runs find the JDKs that were installed here, and tell what they skip.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).env(skips::FILE, skipped()).envs(crate::jdks::variable());
    command
}

/// Where tests tell what they skip.
fn skipped() -> PathBuf {
    root().join("target/skips")
}

/// No test was skipped yet.
pub fn forget_skips() {
    let _ = std::fs::remove_file(skipped());
}

/// What was skipped since, in order, each once.
pub fn skips() -> Vec<String> {
    let text = std::fs::read_to_string(skipped()).unwrap_or_default();
    let lines: std::collections::BTreeSet<String> = text.lines().map(str::to_owned).collect();
    lines.into_iter().collect()
}

/// Something of ours was skipped.
pub fn note_skip(what: &str, reason: impl std::fmt::Display) {
    skips::note_in(&skipped(), "xtask", what, reason);
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let name = |word: &OsStr| word.to_string_lossy().rsplit('/').next().unwrap_or_default().to_owned();
    let mut words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    words[0] = name(command.get_program());
    words.join(" ")
}

/// Runs a program to its end; what it prints is seen. An exit code other than 0 is an error.
pub fn run(command: &mut Command) -> Result<()> {
    let shown = line(command);
    eprintln!("--- {shown}");
    let status = command
        .status()
        .map_err(|error| Error::failed(format!("{shown}: {error}; install it, or put it on PATH")))?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::failed(format!("{shown}: {status}; see its output above")))
    }
}

/// Whether a program runs and ends with 0; what it prints is thrown away.
pub fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
