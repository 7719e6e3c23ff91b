//! Whether the same commit gives the same bytes: built once more, from a clone whose path has another length, by what is compiled there.

use super::{Target, at, fresh, git};
use crate::cargo::cargo;
use crate::shell::{root, run};
use jvm::{Error, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Compares what is in `folder` with what another folder makes of the same commit.
pub fn elsewhere(folder: &Path, target: &Target) -> Result<()> {
    if !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty() {
        return Err(Error::usage("a clone lacks what is not committed: commit it, then give --reproduce"));
    }
    let other = folder.join("reproduced/in-a-folder-whose-path-is-longer");
    fresh(&other)?;
    run(Command::new("git").args(["clone", "--quiet"]).arg(root()).arg(&other))?;
    let commit = git(&["rev-parse", "HEAD"])?;
    run(Command::new("git").current_dir(&other).args(["checkout", "--quiet", "--detach", &commit]))?;
    let again = ["xtask", "dist"].into_iter().chain(target.parts().map(|_| "--aarch64"));
    run(cargo().current_dir(&other).env_remove("CARGO_TARGET_DIR").args(again))?;

    let sums = target.sums();
    let read = |folder: &Path| fs::read_to_string(folder.join(sums)).map_err(at(&folder.join(sums)));
    let (here, there) = (read(folder)?, read(&other.join("target/dist"))?);
    println!("here:\n{here}elsewhere:\n{there}");
    if here != there {
        return Err(Error::failed(format!(
            "the archives differ; compare {} with {} (diffoscope shows where)",
            folder.display(),
            other.join("target/dist").display()
        )));
    }
    println!("the same bytes");
    // Some gigabytes that nobody needs any more.
    fs::remove_dir_all(&other).map_err(at(&other))
}
