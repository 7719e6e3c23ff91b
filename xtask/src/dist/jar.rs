//! `terrace.jar` of a release: with the libraries of all processors that this commit was built for, one after the other.

use super::target::Target;
use super::{VERSION, archive};
use crate::files::{bytes, copy, create, write};
use crate::jar::{self, Library};
use crate::maven::Goal;
use jvm::Result;
use std::fs;
use std::path::Path;

/// Both processors', as the jar names them.
const PLATFORMS: [&str; 2] = [X64, ARM64];
const X64: &str = "linux-x64";
pub const ARM64: &str = "linux-arm64";
/// The digests of the jars.
pub const SUMS: &str = "SHA256SUMS.jar";
/// Names the commit that a library is of.
const COMMIT: &str = "commit";

/// The platforms that a commit was built for.
pub fn of_commit(folder: &Path, commit: &str) -> Vec<&'static str> {
    let named = |platform: &&str| folder.join("natives").join(platform).join(COMMIT);
    PLATFORMS
        .into_iter()
        .filter(|platform| fs::read_to_string(named(platform)).is_ok_and(|found| found == commit))
        .collect()
}

/// Keeps a release's library, and makes the jar of all that are there; with sources and documentation, and their digests.
pub fn make(folder: &Path, target: &Target, agent: &Path, commit: &str, seconds: u64) -> Result<()> {
    let natives = folder.join("natives");
    let own = natives.join(format!("linux-{}", target.name));
    create(&own)?;
    copy(agent, own.join("libterrace.so"))?;
    write(own.join(COMMIT), commit)?;

    let libraries: Vec<Library<'_>> = of_commit(folder, commit)
        .into_iter()
        .map(|platform| Library { platform, path: natives.join(platform).join("libterrace.so") })
        .collect();
    let built = jar::with(&libraries, &natives.join("laid-out"), Goal::Published(seconds))?;
    let mut sums = String::new();
    for part in ["", "-sources", "-javadoc"] {
        let from = built.with_file_name(format!("terrace{part}.jar"));
        let bytes = bytes(&from)?;
        sums += &archive::keep(&folder.join(format!("terrace-{VERSION}{part}.jar")), &bytes)?;
    }
    let platforms: Vec<&str> = libraries.iter().map(|library| library.platform).collect();
    eprintln!("target/dist/terrace-{VERSION}.jar: for {}", platforms.join(" and "));
    write(folder.join(SUMS), &sums)
}
