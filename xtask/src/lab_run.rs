//! The quick run of every experiment.

use crate::build;
use crate::shell::{self, root};
use jvm::{Error, Result};
use std::fs;
use std::process::Command;

/// Options of `lab`.
#[derive(clap::Args)]
pub struct Arguments {
    /// What `terrace lab run` is given instead of nothing, such as `-- atomics --full`.
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Builds all, runs, leaves the results in `target/terrace/lab`. Those of the run before stay beside it.
pub fn run(arguments: &Arguments) -> Result<()> {
    build::all()?;
    let folder = root().join("target/terrace/lab");
    let before = root().join("target/terrace/lab-before");
    if folder.exists() {
        let moved = fs::remove_dir_all(&before).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        });
        moved
            .and_then(|()| fs::rename(&folder, &before))
            .map_err(|error| Error::failed(format!("{}: {error}", before.display())))?;
    }
    let mut command = Command::new(build::folder().join("terrace"));
    command.args(["lab", "run", "--out"]).arg(&folder).args(&arguments.arguments);
    shell::run(&mut command)
}
