//! Running other programs, visibly.

use crate::child;
use jvm::{Error, Result};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace's folder.
pub fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or(here.clone(), PathBuf::from)
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let name = |word: &OsStr| word.to_string_lossy().rsplit('/').next().unwrap_or_default().to_owned();
    let mut words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    words[0] = name(command.get_program());
    words.join(" ")
}

/// Runs a program to its end; what it prints is seen. An exit code other than 0 is an error, and so is a signal that asks us to stop.
pub fn run(command: &mut Command) -> Result<()> {
    child::go_on()?;
    let shown = line(command);
    eprintln!("--- {shown}");
    let mut running = command
        .spawn()
        .map_err(|error| Error::failed(format!("{shown}: {error}; install it, or put it on PATH")))?;
    let status = child::wait(&mut running)?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::failed(format!("{shown}: {status}; see its output above")))
    }
}

/// Has pip install what a file names, each with its digest: other bytes are not installed.
pub fn pip_install<'a>(pip: &'a mut Command, requirements: &Path) -> &'a mut Command {
    pip.args(["install", "--quiet", "--no-deps", "--disable-pip-version-check", "--require-hashes"]);
    pip.arg("--requirement").arg(requirements)
}

/// Whether a program runs and ends with 0; what it prints is thrown away.
pub fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
