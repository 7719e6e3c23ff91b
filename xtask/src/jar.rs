//! `terrace.jar`: the Java API, with the agent's libraries inside.

use crate::build::{self, maven};
use crate::shell::{root, run, works};
use jvm::{Error, Result};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The jar's name, wherever it is put.
pub const NAME: &str = "terrace.jar";

/// A library, and what it is for: `linux-x64`.
pub struct Library<'p> {
    pub platform: &'p str,
    pub path: PathBuf,
}

/// What Maven is to do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// The jar alone.
    Jar,
    /// And its tests.
    Tested,
    /// And what is published beside it, sources and documentation, of nothing that an earlier commit left, and all of one time: seconds
    /// since 1970.
    Published(u64),
}

/// Builds the jar for this machine alone, and puts it beside the command.
pub fn of_this_machine(goal: Goal) -> Result<()> {
    let stripped = root().join("target/natives/stripped.so");
    fs::create_dir_all(root().join("target/natives")).map_err(at(&stripped))?;
    let agent = build::installed().agent()?;
    // What debuggers want would be six times as much as what is loaded.
    if !works(Command::new("strip").arg("--strip-unneeded").arg("-o").args([&stripped, &agent])) {
        fs::copy(&agent, &stripped).map_err(at(&stripped))?;
    }
    let platform = if cfg!(target_arch = "aarch64") { "linux-arm64" } else { "linux-x64" };
    let folder = root().join("target/natives/here");
    let jar = with(&[Library { platform, path: stripped }], &folder, goal)?;
    copy(&jar, &build::folder().join(NAME))
}

/// Builds the jar with these libraries. `folder` is where they are laid out for it.
pub fn with(libraries: &[Library<'_>], folder: &Path, goal: Goal) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(at(folder))?;
    }
    for Library { platform, path } in libraries {
        let place = folder.join(platform);
        fs::create_dir_all(&place).map_err(at(&place))?;
        let bytes = fs::read(path).map_err(at(path))?;
        let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        write(&place.join("libterrace.so"), &bytes)?;
        write(&place.join("libterrace.so.sha256"), format!("{digest}\n").as_bytes())?;
    }
    let mut maven = maven()?;
    maven.args(["-pl", "terrace"]).arg(format!("-Dterrace.natives={}", folder.display()));
    match goal {
        Goal::Jar => maven.args(["-DskipTests", "package"]),
        Goal::Tested => maven.arg("verify"),
        Goal::Published(seconds) => maven.args(["-DskipTests", "clean", "verify"]).arg(time(seconds)),
    };
    run(&mut maven)?;
    Ok(root().join("java/terrace/target").join(NAME))
}

/// Has Maven give everything in its archives this time.
pub fn time(seconds: u64) -> String {
    format!("-Dproject.build.outputTimestamp={seconds}")
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map(|_| ()).map_err(at(from))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(at(path))
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |error| Error::failed(format!("{}: {error}", path.display()))
}
