//! Packages of Debian, fetched once by name and version into `target/jdks/packages`, and held to the digests that are pinned here.

use crate::files::{failed, remove, remove_file};
use crate::shell::{root, run};
use jvm::{Error, Result};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package: name, version, SHA-256.
pub type Package = (&'static str, &'static str, &'static str);

/// The files of packages of a suite of Debian, each as it was pinned.
pub fn fetch(
    suite: &str,
    architecture: &str,
    packages: impl Iterator<Item = Package>,
) -> Result<Vec<PathBuf>> {
    let folder = root().join("target/jdks/packages");
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    // As apt writes it.
    let file = |(name, version, _): &Package| {
        folder.join(format!("{name}_{}_{architecture}.deb", version.replace(':', "%3a")))
    };
    let packages: Vec<Package> = packages.collect();
    let missing: Vec<String> = (packages.iter().filter(|package| !file(package).is_file()))
        .map(|(name, version, _)| format!("{name}:{architecture}={version}"))
        .collect();
    if !missing.is_empty() {
        run(apt(suite)?.arg("update"))
            .map_err(|error| Error::failed(format!("{error}; fetching needs the network")))?;
        run(apt(suite)?.arg("download").args(missing).current_dir(&folder)).map_err(|error| {
            Error::failed(format!("{error}; if Debian has newer ones by now, pin those in xtask/src"))
        })?;
    }
    packages
        .iter()
        .map(|package| {
            let file = file(package);
            check(&file, package.2)?;
            Ok(file)
        })
        .collect()
}

/// What is not what was pinned is thrown away, and never unpacked.
fn check(file: &Path, digest: &str) -> Result<()> {
    let output = Command::new("sha256sum").arg("--").arg(file).output();
    let output = output.map_err(|error| Error::failed(format!("sha256sum: {error}; install coreutils")))?;
    if String::from_utf8_lossy(&output.stdout).trim_start_matches('\\').starts_with(digest) {
        return Ok(());
    }
    remove_file(file)?;
    Err(Error::failed(format!("{} is not what was pinned; nothing of it was run: try again", file.display())))
}

/// apt with lists of its own, so that the machine's stay as they are; the mirror is the machine's.
fn apt(suite: &str) -> Result<Command> {
    let state = root().join("target/jdks/apt").join(suite);
    for folder in ["lists/partial", "cache/archives/partial"] {
        let folder = state.join(folder);
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    }
    let (sources, status) = (state.join("sources.list"), state.join("status"));
    let text = format!("deb [arch=amd64,arm64] {} {suite} main\n", mirror()?);
    let written = fs::write(&sources, text).and_then(|()| fs::write(&status, ""));
    written.map_err(|error| failed(&state, &error))?;
    let mut apt = Command::new("apt-get");
    for (name, value) in [
        ("Dir::State", state.clone()),
        ("Dir::State::lists", state.join("lists")),
        ("Dir::State::status", status),
        ("Dir::Cache", state.join("cache")),
        ("Dir::Etc::sourcelist", sources),
        ("Dir::Etc::sourceparts", PathBuf::from("/dev/null")),
        ("Acquire::Languages", PathBuf::from("none")),
        ("Acquire::IndexTargets::deb::DEP-11::DefaultEnabled", PathBuf::from("false")),
    ] {
        apt.arg("-o").arg(format!("{name}={}", value.display()));
    }
    // Of both, whatever machine this is.
    for architecture in ["amd64", "arm64"] {
        apt.arg("-o").arg(format!("APT::Architectures::={architecture}"));
    }
    apt.args(["-q", "-o", "APT::Sandbox::User="]);
    Ok(apt)
}

/// The mirror of Debian that this machine's apt uses.
fn mirror() -> Result<String> {
    let missing = || {
        Error::failed(
            "this machine's apt knows no mirror of Debian (apt-get indextargets); put the packages into target/jdks/packages",
        )
    };
    let mut ask = Command::new("apt-get");
    ask.args([
        "indextargets",
        "--format",
        "$(SITE)",
        "Created-By: Packages",
        "Origin: Debian",
        "Label: Debian",
    ]);
    let output = ask.output().map_err(|_| missing())?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().filter(|site| !site.is_empty()).map(str::to_owned).ok_or_else(missing)
}

/// Unpacks packages into a folder, which is then theirs alone.
pub fn unpack(packages: &[PathBuf], to: &Path) -> Result<()> {
    remove(to)?;
    fs::create_dir_all(to).map_err(|error| failed(to, &error))?;
    packages
        .iter()
        .try_for_each(|package| run(Command::new("dpkg-deb").arg("--extract").arg(package).arg(to)))
}

/// A shell script that can be run.
pub fn script(path: &Path, body: &str) -> Result<()> {
    let written = fs::write(path, format!("#!/bin/sh\n{body}\n"))
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o755)));
    written.map_err(|error| failed(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_pinned_is_kept() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("some.deb");
        fs::write(&file, "").unwrap();
        check(&file, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855").unwrap();
        fs::write(&file, "another").unwrap();
        let error = check(&file, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert!(error.unwrap_err().to_string().contains("not what was pinned"));
        assert!(!file.exists());
    }
}
