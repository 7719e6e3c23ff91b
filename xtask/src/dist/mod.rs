//! `cargo xtask dist`: what one installs. An archive, its debug symbols, a Debian package, and their digests.

mod archive;
mod build;
mod check;
mod compare;
mod deb;
mod emulated;
mod jar;
mod reproduce;
mod roots;
mod stage;
mod target;
mod tools;

pub use tools::Tools;

use crate::aarch64::Parts;
use crate::files::{create, write};
use crate::maven::Goal;
use crate::shell::root;
use jvm::{Error, Result};
use std::path::Path;
use std::process::Command;
use target::Target;

/// Options of `dist`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Install the artifacts into roots of Debian bookworm, Debian trixie and musl (fetched once; requires root and debootstrap), and run
    /// them there as an unprivileged user.
    #[arg(long)]
    check: bool,

    /// Build the same commit again, from a clone in another directory, for each architecture that was built here, and report the first file
    /// that differs.
    #[arg(long)]
    reproduce: bool,

    /// Only check what is already in target/dist.
    #[arg(long)]
    no_build: bool,

    /// Build for aarch64 instead of this machine (fetches what `cargo xtask aarch64` does); --check then runs it under the emulator.
    #[arg(long)]
    aarch64: bool,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The name of a release, which is that of its archive's folder, too.
fn name(target: &Target) -> String {
    format!("terrace-{VERSION}-linux-{}", target.name)
}

/// Builds and checks.
pub fn run(arguments: &Arguments) -> Result<()> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Error::failed("releases are built on x86-64; use an x86-64 machine"));
    }
    let folder = root().join("target/dist");
    let target = if arguments.aarch64 { Target::arm64(Parts::install()?) } else { Target::x64() };
    if !arguments.no_build {
        make(&folder, &target)?;
    }
    if arguments.reproduce {
        reproduce::elsewhere(&folder)?;
    }
    if !arguments.check {
        return Ok(());
    }
    let archive = folder.join(format!("{}.tar.gz", name(&target)));
    if !archive.is_file() {
        return Err(Error::failed(format!("{} not found; leave out --no-build", archive.display())));
    }
    match target.parts() {
        Some(parts) => emulated::check(&folder, &archive, &target, parts),
        None => check::all(&folder, &archive, &target),
    }
}

fn make(folder: &Path, target: &Target) -> Result<()> {
    create(folder)?;
    // Both programs and archives bear the time and the name of the commit, so that the same commit gives the same bytes.
    let commit = if changed()? { format!("{} with changes", commit()?) } else { commit()? };
    let seconds: u64 = git(&["show", "--no-patch", "--format=%ct", "HEAD"])?.parse().unwrap_or(0);

    let tools = tools::Tools::install(&folder.join("tools"))?;
    let built = build::programs(&tools, target, &commit)?;
    crate::build::workloads(Goal::Published(seconds))?;
    let release = stage::release(folder, target, &built)?;
    jar::make(folder, target, &release.files.join("lib/libterrace.so"), &commit, seconds)?;

    let name = name(target);
    let packed = [
        (format!("{name}.tar.gz"), archive::tar_gz(&release.files, &format!("{name}/"), seconds)?),
        (
            format!("{name}-debug.tar.gz"),
            archive::tar_gz(&release.debug, &format!("{name}-debug/"), seconds)?,
        ),
        (
            format!("terrace_{VERSION}_{}.deb", target.debian),
            deb::package(&stage::debian(folder, &release)?, &folder.join("scratch"), target, seconds)?,
        ),
    ];
    let mut sums = String::new();
    for (file, bytes) in packed {
        sums += &archive::keep(&folder.join(&file), &bytes)?;
        eprintln!("target/dist/{file}: {:.1} MB", bytes.len() as f64 / 1e6);
    }
    write(folder.join(target.sums()), &sums)
}

/// The commit's name, in short.
fn commit() -> Result<String> {
    git(&["rev-parse", "--short=12", "HEAD"])
}

/// Whether there is anything that is not committed.
fn changed() -> Result<bool> {
    // Files that git does not know would be packed, too.
    git(&["status", "--porcelain"]).map(|changes| !changes.is_empty())
}

fn git(arguments: &[&str]) -> Result<String> {
    let output =
        Command::new("git").current_dir(root()).args(arguments).output().map_err(|error| {
            Error::failed(format!("git: {error}; install it: a release contains its commit"))
        })?;
    if !output.status.success() {
        return Err(Error::failed(format!(
            "git {}: {}",
            arguments[0],
            String::from_utf8_lossy(&output.stderr).trim()
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The version stands in Cargo.toml; what Maven builds has to agree.
    #[test]
    fn java_has_the_version_of_the_workspace() {
        for pom in [
            "pom.xml",
            "terrace/pom.xml",
            "workloads/pom.xml",
            "benchmarks/pom.xml",
            "jmh-profiler/pom.xml",
            "applications/pom.xml",
        ] {
            let text = std::fs::read_to_string(root().join("java").join(pom)).unwrap();
            let head = text.split("<packaging>").next().unwrap();
            assert!(head.contains(&format!("<version>{VERSION}</version>")), "java/{pom}");
        }
    }

    #[test]
    fn the_image_installs_the_archive_of_this_version() {
        let text = std::fs::read_to_string(root().join("packaging/Dockerfile")).unwrap();
        assert!(text.contains(&format!("ARG VERSION={VERSION}\n")), "{text}");
    }
}
