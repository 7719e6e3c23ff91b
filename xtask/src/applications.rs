//! The programs of the experiment `applications`: fetched once with Maven, checked against their digests, and kept beside the command,
//! where neither a run nor a test needs the network.

mod callbacks;
mod keycloak;

use crate::build;
use crate::shell::{root, run};
use jvm::{Error, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The digests of all libraries, as `sha256sum` writes them.
const DIGESTS: &str = "java/applications/digests.txt";
/// Our own jars begin so: they are built, not fetched.
const OWN: &str = "terrace-";

/// Builds the drivers with the libraries that they drive, with their tests or without, and puts them beside the command and beside the
/// tests' command.
pub fn fetch(test: bool) -> Result<()> {
    let built = root().join("java/applications/target/applications");
    // What an earlier version needed does not stay.
    remove(&built)?;
    let mut maven = build::maven()?;
    maven.args(["-Papplications", "-pl", "workloads,applications,lucene,spark", "package"]);
    if !test {
        maven.arg("-DskipTests");
    }
    run(&mut maven).map_err(|error| {
        Error::failed(format!(
            "the applications cannot be built: {error}; fetching them once needs the network"
        ))
    })?;
    check(&built, &root().join(DIGESTS))?;
    callbacks::build(&built)?;
    keycloak::build(&built)?;
    for folder in [build::folder(), build::checked_folder()] {
        put(&built, &folder.join("applications"))?;
    }
    Ok(())
}

/// Every library has its digest, and none is there without one.
fn check(folder: &Path, digests: &Path) -> Result<()> {
    let text = fs::read_to_string(digests).map_err(|error| Error::failed(format!("{DIGESTS}: {error}")))?;
    let known: BTreeSet<&str> =
        text.lines().filter_map(|line| line.split_once("  ").map(|(_, name)| name)).collect();
    let there = names(folder)?;
    let there: BTreeSet<&str> =
        there.iter().map(String::as_str).filter(|name| !name.starts_with(OWN)).collect();
    if let Some(name) = there.symmetric_difference(&known).next() {
        return Err(Error::failed(format!(
            "{name} is only in one of {DIGESTS} and what was fetched; docs/applications.md says how digests are written"
        )));
    }
    let mut sums = Command::new("sha256sum");
    run(sums.current_dir(folder).args(["--check", "--strict", "--quiet"]).arg(digests)).map_err(|error| {
        Error::failed(format!("a library is not the one of {DIGESTS}: {error}; nothing of it was run"))
    })
}

/// The same files under another name where the file system can do that: they are many, and nobody writes to them.
fn put(from: &Path, to: &Path) -> Result<()> {
    remove(to)?;
    for name in names(from)? {
        let (from, to) = (from.join(&name), to.join(&name));
        let parent = to.parent().unwrap_or(&to);
        fs::create_dir_all(parent).map_err(|error| failed(parent, &error))?;
        fs::hard_link(&from, &to)
            .or_else(|_| fs::copy(&from, &to).map(drop))
            .map_err(|error| failed(&to, &error))?;
    }
    Ok(())
}

/// Every file in it, by its path from there.
fn names(folder: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut left = vec![String::new()];
    while let Some(under) = left.pop() {
        let at = folder.join(&under);
        for entry in fs::read_dir(&at).map_err(|error| failed(&at, &error))? {
            let entry = entry.map_err(|error| failed(&at, &error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = if under.is_empty() { name } else { format!("{under}/{name}") };
            let kind = entry.file_type().map_err(|error| failed(&at, &error))?;
            if kind.is_dir() { left.push(name) } else { found.push(name) }
        }
    }
    Ok(found)
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(folder, &error)),
        _ => Ok(()),
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::failed(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn only_libraries_with_their_digests_pass() {
        let place = tempfile::tempdir().unwrap();
        let (folder, digests) = (place.path().join("jars"), place.path().join("digests.txt"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("terrace-own.jar"), "built here").unwrap();
        fs::write(folder.join("h2.jar"), "").unwrap();
        // Of nothing.
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        fs::write(&digests, format!("{empty}  h2.jar\n")).unwrap();
        check(&folder, &digests).unwrap();
        let error = |what: &str| {
            let error = check(&folder, &digests).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        };
        fs::write(folder.join("h2.jar"), "another").unwrap();
        error("not the one of java/applications/digests.txt");
        fs::write(folder.join("more.jar"), "").unwrap();
        error("more.jar is only in one of");
        fs::remove_file(folder.join("more.jar")).unwrap();
        fs::create_dir(folder.join("spark")).unwrap();
        fs::write(folder.join("spark/own.jar"), "").unwrap();
        error("spark/own.jar is only in one of");
        fs::remove_file(folder.join("spark/own.jar")).unwrap();
        fs::remove_file(folder.join("h2.jar")).unwrap();
        error("h2.jar is only in one of");
    }
}
