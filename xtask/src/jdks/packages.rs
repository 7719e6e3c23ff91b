//! Packages of Debian, fetched once by name and version into `target/jdks/packages`, and held to the digests that are pinned here.

use crate::child;
use crate::files::{at, create, remove, remove_file, write};
use crate::shell::{root, run};
use jvm::{Error, Result};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package: name, version, SHA-256.
pub type Package = (&'static str, &'static str, &'static str);

/// A package's file, and the digest that it has to have.
struct Held {
    file: PathBuf,
    digest: String,
}

/// The files of packages of a suite of Debian, each as it was pinned. What Debian no longer has is taken in the version that it has now, by the digest in
/// its signed index, and told.
pub fn fetch(
    suite: &str,
    architecture: &str,
    packages: impl Iterator<Item = Package>,
) -> Result<Vec<PathBuf>> {
    let folder = root().join("target/jdks/packages");
    create(&folder)?;
    let packages: Vec<Package> = packages.collect();
    let missing = || {
        let there = |package: &&Package| held(&folder, architecture, package).file.is_file();
        packages.iter().filter(move |package| !there(package))
    };
    if missing().next().is_some() {
        run(apt("apt-get", suite)?.arg("update"))
            .map_err(|error| Error::failed(format!("{error}; fetching requires network access")))?;
        let pinned = missing().map(|(name, version, _)| format!("{name}:{architecture}={version}"));
        let pinned: Vec<String> = pinned.collect();
        if run(apt("apt-get", suite)?.arg("download").args(pinned).current_dir(&folder)).is_err() {
            child::go_on()?;
            missing().try_for_each(|package| successor(&folder, suite, architecture, package))?;
        }
    }
    let files = packages.iter().map(|package| {
        let held = held(&folder, architecture, package);
        check(&held.file, &held.digest).map(|()| held.file)
    });
    files.collect()
}

/// The file as it was pinned, or that of its successor, if it is there.
fn held(folder: &Path, architecture: &str, (name, version, digest): &Package) -> Held {
    let of = |version: &str, digest: &str| Held {
        file: named(folder, architecture, name, version),
        digest: digest.to_owned(),
    };
    let pinned = of(version, digest);
    let noted = fs::read_to_string(note(folder, digest)).unwrap_or_default();
    match noted.split_once(' ') {
        Some((version, digest)) if !pinned.file.is_file() => of(version, digest.trim_end()),
        _ => pinned,
    }
}

/// As apt writes it.
fn named(folder: &Path, architecture: &str, name: &str, version: &str) -> PathBuf {
    folder.join(format!("{name}_{}_{architecture}.deb", version.replace(':', "%3a")))
}

/// Where it stands what was taken in place of what has this digest: version and digest. Suites have packages of the same name.
fn note(folder: &Path, pinned: &str) -> PathBuf {
    folder.join(format!("{pinned}.successor"))
}

/// Fetches what Debian has now in place of a package.
fn successor(folder: &Path, suite: &str, architecture: &str, package: &Package) -> Result<()> {
    let (name, pinned, digest) = package;
    let wanted = format!("{name}:{architecture}");
    let mut ask = apt("apt-cache", suite)?;
    let output = ask.args(["show", "--no-all-versions"]).arg(&wanted).output();
    let output = output.map_err(|error| Error::failed(format!("apt-cache: {error}; install apt")))?;
    let (version, now) = version_and_digest(&String::from_utf8_lossy(&output.stdout)).ok_or_else(|| {
        Error::failed(format!("Debian {suite} no longer has {wanted}; pin another version in xtask/src"))
    })?;
    run(apt("apt-get", suite)?.arg("download").arg(format!("{wanted}={version}")).current_dir(folder))?;
    // The digest that was pinned for it counts.
    if version == *pinned {
        return Ok(());
    }
    check(&named(folder, architecture, name, &version), &now)?;
    let path = note(folder, digest);
    write(&path, format!("{version} {now}\n"))?;
    eprintln!("{name}: Debian has {version} in place of {pinned}; its digest is from Debian's signed index");
    Ok(())
}

/// Of a package as `apt-cache show` tells it.
fn version_and_digest(told: &str) -> Option<(String, String)> {
    let field =
        |name: &str| told.lines().find_map(|line| line.strip_prefix(name)).map(|text| text.trim().to_owned());
    Some((field("Version:")?, field("SHA256:")?))
}

/// What is not what was pinned is thrown away, and never unpacked.
fn check(file: &Path, digest: &str) -> Result<()> {
    let output = Command::new("sha256sum").arg("--").arg(file).output();
    let output = output.map_err(|error| Error::failed(format!("sha256sum: {error}; install coreutils")))?;
    if String::from_utf8_lossy(&output.stdout).trim_start_matches('\\').starts_with(digest) {
        return Ok(());
    }
    remove_file(file)?;
    Err(Error::failed(format!(
        "{} does not match the pinned digest; none of it was run: try again",
        file.display()
    )))
}

/// apt with lists of its own, so that the machine's stay as they are; the mirror is the machine's.
fn apt(program: &str, suite: &str) -> Result<Command> {
    let state = root().join("target/jdks/apt").join(suite);
    for folder in ["lists/partial", "cache/archives/partial"] {
        let folder = state.join(folder);
        create(&folder)?;
    }
    let (sources, status) = (state.join("sources.list"), state.join("status"));
    let text = format!("deb [arch=amd64,arm64] {} {suite} main\n", mirror()?);
    let written = fs::write(&sources, text).and_then(|()| fs::write(&status, ""));
    written.map_err(at(&state))?;
    let mut apt = Command::new(program);
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
            "this machine's apt has no Debian mirror (apt-get indextargets); put the packages into target/jdks/packages",
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
    create(to)?;
    packages
        .iter()
        .try_for_each(|package| run(Command::new("dpkg-deb").arg("--extract").arg(package).arg(to)))
}

/// A shell script that can be run.
pub fn script(path: &Path, body: &str) -> Result<()> {
    let written = fs::write(path, format!("#!/bin/sh\n{body}\n"))
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o755)));
    written.map_err(at(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_successor_counts_only_where_what_was_pinned_is_not_there() {
        let place = tempfile::tempdir().unwrap();
        let package: Package = ("libc6", "1:2.41-1", "pinned");
        let file =
            || held(place.path(), "arm64", &package).file.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(file(), "libc6_1%3a2.41-1_arm64.deb");
        let told = "Package: libc6\nVersion: 1:2.41-2\nSize: 7\nSHA256: later\nDescription: \n";
        let (version, digest) = version_and_digest(told).unwrap();
        fs::write(note(place.path(), package.2), format!("{version} {digest}\n")).unwrap();
        assert_eq!(
            (file(), held(place.path(), "arm64", &package).digest),
            ("libc6_1%3a2.41-2_arm64.deb".into(), "later".into())
        );
        let newer: Package = ("libc6", "1:2.41-3", "pinned anew");
        assert_eq!(held(place.path(), "arm64", &newer).digest, "pinned anew");
        fs::write(place.path().join("libc6_1%3a2.41-1_arm64.deb"), "").unwrap();
        assert_eq!(file(), "libc6_1%3a2.41-1_arm64.deb");
        assert!(version_and_digest("N: No packages found\n").is_none());
    }

    #[test]
    fn only_what_was_pinned_is_kept() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("some.deb");
        fs::write(&file, "").unwrap();
        check(&file, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855").unwrap();
        fs::write(&file, "another").unwrap();
        let error = check(&file, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert!(error.unwrap_err().to_string().contains("does not match the pinned digest"));
        assert!(!file.exists());
    }
}
