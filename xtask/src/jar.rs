//! `terrace.jar`: the Java API, with the agent's libraries inside.

use crate::files::{bytes, copy, create, fresh, remove, write};
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
    let target = root().join("java/terrace/target");
    forget_libraries(&target.join("classes"))?;
    let mut maven = maven()?;
    maven.args(["-pl", "terrace"]).arg(format!("-Dterrace.natives={}", folder.display()));
    match goal {
        Goal::Jar => maven.args(["-DskipTests", "package"]),
        Goal::Tested => maven.arg("verify"),
        Goal::Published(seconds) => maven.args(["-DskipTests", "clean", "verify"]).arg(time(seconds)),
    };
    run(&mut maven)?;
    Ok(target.join(NAME))
}

/// Maven adds to what it has put beside the classes, and never removes: a library of another processor, from an earlier build, would be packed
/// with this one's.
fn forget_libraries(classes: &Path) -> Result<()> {
    let entries = std::fs::read_dir(classes).into_iter().flatten().flatten();
    let libraries = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("linux-"));
    libraries.map(|entry| entry.path()).try_for_each(|folder| remove(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_an_earlier_build_go_and_classes_stay() {
        let classes = tempfile::tempdir().unwrap();
        let there = |name: &str| classes.path().join(name).exists();
        for folder in ["linux-arm64", "linux-x64", "terrace"] {
            create(classes.path().join(folder)).unwrap();
            write(classes.path().join(folder).join("file"), "").unwrap();
        }
        forget_libraries(classes.path()).unwrap();
        assert_eq!(["linux-arm64", "linux-x64", "terrace/file"].map(there), [false, false, true]);
        forget_libraries(&classes.path().join("of a build that has not been")).unwrap();
    }
}
