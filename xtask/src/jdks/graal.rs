//! Graal's compiler, which JDK 25 takes in place of C2 when it is asked to: four jars of Maven Central.

use crate::files::remove;
use crate::shell::{root, run};
use crate::{build, digests};
use jvm::{Error, Result};
use std::path::PathBuf;

const DIGESTS: &str = "java/graal/digests.txt";

/// Where the jars are: the launches look there, too.
pub fn folder() -> PathBuf {
    root().join("target/jdks/graal")
}

pub fn is_there() -> bool {
    folder().is_dir()
}

/// Fetches the jars, if they are not there, and checks them.
pub fn install() -> Result<()> {
    if is_there() {
        return Ok(());
    }
    let new = root().join("target/jdks/new-graal");
    remove(&new)?;
    let mut maven = build::maven()?;
    maven.arg(format!("-Dgraal={}", new.display()));
    run(maven.args(["-Pgraal", "-pl", "graal", "package"])).map_err(|error| {
        Error::failed(format!("Graal's compiler: {error}; fetching it once needs the network"))
    })?;
    digests::check(&new, DIGESTS)?;
    std::fs::rename(&new, folder()).map_err(|error| crate::files::failed(&folder(), &error))
}
