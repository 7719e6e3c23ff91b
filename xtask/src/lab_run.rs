//! The commands that run experiments of the lab: they build all, then call the built command.

use crate::build;
use crate::shell::{self, root};
use jvm::{Error, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Options of `lab`.
#[derive(clap::Args)]
pub struct Lab {
    /// What `terrace lab run` is given instead of nothing, such as `-- atomics --full`.
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Options of `startup`.
#[derive(clap::Args)]
pub struct Startup {
    /// Pairs of runs for each JDK.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    pairs: u64,
}

impl Lab {
    pub fn run(&self) -> Result<()> {
        run("lab", false, &self.arguments)
    }
}

impl Startup {
    pub fn run(&self) -> Result<()> {
        run("startup", false, &words(&["startup", "--full", "--rounds", &self.pairs.to_string()]))
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Builds all, runs, leaves the results in `target/terrace/NAME`. Those of the run before stay beside it, unless they are gone on with.
fn run(name: &str, resume: bool, arguments: &[String]) -> Result<()> {
    build::all()?;
    let folder = root().join("target/terrace").join(name);
    if !resume && folder.exists() {
        keep(&folder, &folder.with_file_name(format!("{name}-before")))?;
    }
    let mut command = Command::new(build::folder().join("terrace"));
    command.args(["lab", "run", "--out"]).arg(&folder).args(resume.then_some("--resume")).args(arguments);
    shell::run(&mut command)
}

fn keep(folder: &Path, before: &Path) -> Result<()> {
    let removed = fs::remove_dir_all(before).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    });
    removed
        .and_then(|()| fs::rename(folder, before))
        .map_err(|error| Error::failed(format!("{}: {error}", before.display())))
}
