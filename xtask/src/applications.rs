//! The programs of the experiment `applications`: fetched once with Maven, checked against their digests, and kept beside the command,
//! where neither a run nor a test needs the network.

mod callbacks;
mod keycloak;

use crate::files::{at, create, names, remove};
use crate::shell::{root, run};
use crate::{digests, places};
use jvm::{Error, Result};
use std::fs;
use std::path::Path;

/// The digests of all libraries, as `sha256sum` writes them.
const DIGESTS: &str = "java/applications/digests.txt";

/// How Maven says that it could not reach what it fetches from, now or at an earlier attempt that it remembers. What is not there, or has another digest, is
/// said in other words.
const UNREACHABLE: [&str; 4] =
    ["Could not transfer", "failed to transfer", "Unknown host", "in offline mode and the artifact"];

/// Why a transfer failed that had reached it.
const OF_A_TRANSFER: [&str; 2] = ["No space left", "Checksum validation failed"];

/// Builds the drivers with the libraries that they drive, and puts them beside the command and beside the tests' command.
pub fn fetch() -> Result<()> {
    built()?.map_or(Ok(()), Err)
}

/// The same with their tests, after those of the workloads. Why the libraries could not be fetched, so that everything else can be tested; whatever else fails
/// is an error.
pub fn fetch_and_test() -> Result<Option<Error>> {
    match built()? {
        // Only now that it is known whose they are: the tests run the libraries.
        None => package("-Dworkloads.tested=true"),
        unreachable => Ok(unreachable),
    }
}

fn built() -> Result<Option<Error>> {
    let built = root().join("java/applications/target/applications");
    // What an earlier version needed does not stay.
    remove(&built)?;
    if let Some(unreachable) = package("-DskipTests")? {
        return Ok(Some(unreachable));
    }
    digests::check(&built, DIGESTS)?;
    callbacks::build(&built)?;
    keycloak::build(&built)?;
    for folder in [places::folder(), places::checked_folder()] {
        put(&built, &folder.join("applications"))?;
    }
    Ok(None)
}

/// Has Maven fetch and build. Why it could not fetch, where that is so.
fn package(option: &str) -> Result<Option<Error>> {
    let said = root().join("target/applications.log");
    let _ = fs::remove_file(&said);
    let mut maven = crate::maven::maven()?;
    maven.args(["-Papplications", "-pl", "workloads,applications,lucene,spark", "package", option]);
    let Err(error) = run(maven.arg("--log-file").arg(&said)) else { return Ok(None) };
    let said = fs::read_to_string(&said).unwrap_or_default();
    eprint!("{said}");
    let error = format!("the applications cannot be built: {error}");
    match is_unreachable(&said) {
        true => Ok(Some(Error::failed(format!("{error}; fetching them once requires network access")))),
        false => Err(Error::failed(error)),
    }
}

/// Whether Maven failed for the network alone.
fn is_unreachable(said: &str) -> bool {
    let mut errors = said.lines().filter(|line| line.starts_with("[ERROR]"));
    errors.any(|line| {
        let has = |words: &&str| line.contains(words);
        UNREACHABLE.iter().any(has) && !OF_A_TRANSFER.iter().any(has)
    })
}

/// The same files under another name where the file system can do that: they are many, and nobody writes to them.
fn put(from: &Path, to: &Path) -> Result<()> {
    remove(to)?;
    for name in names(from)? {
        let (from, to) = (from.join(&name), to.join(&name));
        let parent = to.parent().unwrap_or(&to);
        create(parent)?;
        fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop)).map_err(at(&to))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_network_that_is_not_there_is_none() {
        for said in [
            "[ERROR] Could not transfer artifact com.h2database:h2:jar:2.4.240 from/to central: unknown host: Name or service not known",
            "[ERROR] com.h2database:h2:jar:2.4.240 failed to transfer from central during a previous attempt",
            "[ERROR] Cannot access central in offline mode and the artifact com.h2database:h2:jar:2.4.240 has not been downloaded",
        ] {
            assert!(is_unreachable(said), "{said}");
        }
        for said in [
            "[ERROR] Could not find artifact com.h2database:h2:jar:0 in central",
            "[ERROR] Could not transfer artifact com.h2database:h2:jar:2.4.240 from/to central: No space left on device",
            "[WARNING] Could not transfer metadata from/to central: unknown host\n[ERROR] COMPILATION ERROR :",
            "[ERROR] COMPILATION ERROR :",
            "[ERROR] There are test failures.",
            "",
        ] {
            assert!(!is_unreachable(said), "{said}");
        }
    }

    #[test]
    fn folders_are_put_with_what_is_in_them() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        fs::create_dir_all(from.join("keycloak/lib")).unwrap();
        fs::write(from.join("keycloak/lib/one.jar"), "1").unwrap();
        fs::create_dir_all(to.join("of-an-earlier-version")).unwrap();
        put(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("keycloak/lib/one.jar")).unwrap(), "1");
        assert_eq!(names(&to).unwrap(), ["keycloak/lib/one.jar"]);
        assert!(!to.join("of-an-earlier-version").exists());
    }
}
