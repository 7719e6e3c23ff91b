//! Whether the same commit gives the same bytes: built once more, from a clone whose path has another length, by what is compiled there.

use super::{changed, commit, compare, git, jar, target};
use crate::cargo::cargo;
use crate::files::{at, bytes, fresh, text};
use crate::shell::{root, run};
use jvm::{Error, Result};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Compares all that is in `folder` of this commit with what another folder makes of it.
pub fn elsewhere(folder: &Path) -> Result<()> {
    if changed()? {
        return Err(Error::usage("a clone lacks uncommitted changes: commit them, then use --reproduce"));
    }
    let platforms = jar::of_commit(folder, &commit()?);
    if platforms.is_empty() {
        return Err(Error::usage("target/dist was built from another commit; leave out --no-build"));
    }
    let other = folder.join("reproduced/in-a-folder-whose-path-is-longer");
    fresh(&other)?;
    run(Command::new("git").args(["clone", "--quiet"]).arg(root()).arg(&other))?;
    let full = git(&["rev-parse", "HEAD"])?;
    run(Command::new("git").current_dir(&other).args(["checkout", "--quiet", "--detach", &full]))?;
    if platforms.contains(&jar::ARM64) {
        // Nothing in it is built: packages, by their digests. The tools for both processors are installed anew.
        let fetched = "target/aarch64";
        fs::create_dir_all(other.join("target")).map_err(at(&other))?;
        symlink(root().join(fetched), other.join(fetched)).map_err(at(&other))?;
    }
    let mut sums = vec![jar::SUMS];
    for platform in platforms {
        let mut again = cargo();
        again.current_dir(&other).env_remove("CARGO_TARGET_DIR").args(["xtask", "dist"]);
        if platform == jar::ARM64 {
            again.arg("--aarch64");
        }
        run(&mut again)?;
        sums.push(if platform == jar::ARM64 { target::ARM64_SUMS } else { target::X64_SUMS });
    }

    let there = other.join("target/dist");
    for name in sums {
        let listed = |folder: &Path| text(folder.join(name));
        let listed = listed(folder)? + &listed(&there)?;
        println!("{name}, here and elsewhere:\n{listed}");
        for file in listed.lines().filter_map(|line| line.split_once("  ")).map(|(_, file)| file) {
            let bytes = |folder: &Path| bytes(folder.join(file));
            if let Some(found) = compare::first_difference(file, &bytes(folder)?, &bytes(&there)?)? {
                return Err(Error::failed(format!(
                    "not identical: {found}\ncompare {} with {} (diffoscope shows where); if target/dist has files of an earlier \
                     version's compiler, remove it and try again",
                    folder.display(),
                    there.display()
                )));
            }
        }
    }
    println!("the same bytes");
    // Some gigabytes that nobody needs any more.
    fs::remove_dir_all(&other).map_err(at(&other))
}
