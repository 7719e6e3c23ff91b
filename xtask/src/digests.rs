//! What was fetched, held to digests that are kept beside the sources, as `sha256sum` writes them.

use crate::files::names;
use crate::shell::{root, run};
use jvm::{Error, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Our own jars begin so: they are built, not fetched.
const OWN: &str = "terrace-";

/// Every file of `folder` has its digest, and none is there without one. `digests` is a path from the project's root, or an absolute one.
pub fn check(folder: &Path, digests: impl AsRef<Path>) -> Result<()> {
    let named = digests.as_ref().display();
    let digests = root().join(&digests);
    let text = fs::read_to_string(&digests).map_err(|error| Error::failed(format!("{named}: {error}")))?;
    let known: BTreeSet<&str> =
        text.lines().filter_map(|line| line.split_once("  ").map(|(_, name)| name)).collect();
    let there = names(folder)?;
    let there: BTreeSet<&str> =
        there.iter().map(String::as_str).filter(|name| !name.starts_with(OWN)).collect();
    if let Some(name) = there.symmetric_difference(&known).next() {
        return Err(Error::failed(format!(
            "{name} is only in one of {named} and the fetched files; inspect them, and rewrite the digests: (cd {} && find . -type f ! -name '{OWN}*' \
             -printf '%P\\n' | LC_ALL=C sort | xargs sha256sum)",
            folder.display()
        )));
    }
    let mut sums = Command::new("sha256sum");
    run(sums.current_dir(folder).args(["--check", "--strict", "--quiet"]).arg(digests)).map_err(|error| {
        Error::failed(format!("a library does not match {named}: {error}; none of it was run"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        error("digests.txt");
        error("a library does not match");
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
