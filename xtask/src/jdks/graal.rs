//! Graal's compiler, which JDK 25 takes in place of C2 when it is asked to: four jars of Maven Central.

use crate::files::{remove, rename};
use crate::shell::{root, run};
use crate::{child, digests};
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

/// Fetches the jars, if those that are there are not the ones whose digests are kept; gives why, if they cannot be fetched. Other jars are an error.
pub fn install() -> Result<Option<Error>> {
    if is_there() && digests::check(&folder(), DIGESTS).is_ok() {
        return Ok(None);
    }
    let new = root().join("target/jdks/new-graal");
    remove(&new)?;
    let mut maven = crate::maven::maven()?;
    maven.arg(format!("-Dgraal={}", new.display()));
    if let Err(error) = run(maven.args(["-Pgraal", "-pl", "graal", "package"])) {
        // Who stops it does not want the rest without it.
        child::go_on()?;
        return Ok(Some(Error::failed(format!(
            "Graal's compiler: {error}; fetching it once requires network access"
        ))));
    }
    digests::check(&new, DIGESTS)?;
    remove(&folder())?;
    rename(&new, folder())?;
    Ok(None)
}
