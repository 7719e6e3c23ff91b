//! `terrace.jar`: the Java API, with the agent's libraries inside.

use crate::files::{bytes, copy, create, fresh, write};
use crate::maven::{Goal, maven, time};
use crate::places::{folder, installed};
use crate::shell::{root, run, works};
use jvm::Result;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The jar's name, wherever it is put.
pub const NAME: &str = "terrace.jar";

/// A library, and what it is for: `linux-x64`.
pub struct Library<'p> {
    pub platform: &'p str,
    pub path: PathBuf,
}

/// Builds the jar for this machine alone, and puts it beside the command.
pub fn of_this_machine(goal: Goal) -> Result<()> {
    let stripped = root().join("target/natives/stripped.so");
    create(root().join("target/natives"))?;
    let agent = installed().agent()?;
    // What debuggers want would be six times as much as what is loaded.
    if !works(Command::new("strip").arg("--strip-unneeded").arg("-o").args([&stripped, &agent])) {
        copy(&agent, &stripped)?;
    }
    let platform = if cfg!(target_arch = "aarch64") { "linux-arm64" } else { "linux-x64" };
    let jar = with(&[Library { platform, path: stripped }], &root().join("target/natives/here"), goal)?;
    copy(jar, folder().join(NAME))
}

/// Builds the jar with these libraries. `folder` is where they are laid out for it.
pub fn with(libraries: &[Library<'_>], folder: &Path, goal: Goal) -> Result<PathBuf> {
    fresh(folder)?;
    for Library { platform, path } in libraries {
        let place = folder.join(platform);
        create(&place)?;
        let bytes = bytes(path)?;
        let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        write(place.join("libterrace.so"), &bytes)?;
        write(place.join("libterrace.so.sha256"), format!("{digest}\n"))?;
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
