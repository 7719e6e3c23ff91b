//! `terrace.jar` of a release: with the libraries of all processors that this commit was built for, one after the other.

use super::target::Target;
use super::{VERSION, archive, at, write};
use crate::jar::{self, Goal, Library};
use jvm::Result;
use std::fs;
use std::path::Path;

/// Both processors', as the jar names them.
const PLATFORMS: [&str; 2] = ["linux-x64", "linux-arm64"];
/// Names the commit that a library is of.
const COMMIT: &str = "commit";

/// Keeps a release's library, and makes the jar of all that are there; with sources and documentation, and their digests.
pub fn make(folder: &Path, target: &Target, agent: &Path, commit: &str) -> Result<()> {
    let natives = folder.join("natives");
    let own = natives.join(format!("linux-{}", target.name));
    fs::create_dir_all(&own).map_err(at(&own))?;
    fs::copy(agent, own.join("libterrace.so")).map_err(at(agent))?;
    write(&own.join(COMMIT), commit)?;

    let of_commit = |platform: &&str| {
        fs::read_to_string(natives.join(platform).join(COMMIT)).is_ok_and(|found| found == commit)
    };
    let libraries: Vec<Library<'_>> = PLATFORMS
        .into_iter()
        .filter(of_commit)
        .map(|platform| Library { platform, path: natives.join(platform).join("libterrace.so") })
        .collect();
    let built = jar::with(&libraries, &natives.join("laid-out"), Goal::Published)?;
    let mut sums = String::new();
    for part in ["", "-sources", "-javadoc"] {
        let from = built.with_file_name(format!("terrace{part}.jar"));
        let bytes = fs::read(&from).map_err(at(&from))?;
        sums += &archive::keep(&folder.join(format!("terrace-{VERSION}{part}.jar")), &bytes)?;
    }
    let platforms: Vec<&str> = libraries.iter().map(|library| library.platform).collect();
    eprintln!("target/dist/terrace-{VERSION}.jar: for {}", platforms.join(" and "));
    write(&folder.join("SHA256SUMS.jar"), &sums)
}
