//! `cargo xtask dist`: what one installs. An archive, its debug symbols, a Debian package, and their digests.

mod archive;
mod build;
mod check;
mod deb;
mod reproduce;
mod roots;
mod stage;
mod tools;

use crate::shell::root;
use jvm::{Error, Result};
use std::path::Path;
use std::process::Command;

/// Options of `dist`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Install what was made into roots of Debian bookworm, Debian trixie and musl (fetched once; needs root and debootstrap), and
    /// run it there as a user without rights.
    #[arg(long)]
    check: bool,

    /// Build the same commit once more, from a clone in another folder, and compare the digests.
    #[arg(long)]
    reproduce: bool,

    /// Only check what is in target/dist already.
    #[arg(long)]
    no_build: bool,
}

/// The digests of what was made.
const SUMS: &str = "SHA256SUMS";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The name of a release, which is that of its archive's folder, too.
fn name() -> String {
    format!("terrace-{VERSION}-linux-x64")
}

/// Builds and checks.
pub fn run(arguments: &Arguments) -> Result<()> {
    let folder = root().join("target/dist");
    if !arguments.no_build {
        make(&folder)?;
    }
    if arguments.reproduce {
        reproduce::elsewhere(&folder)?;
    }
    if arguments.check {
        check::all(&folder, &folder.join(format!("{}.tar.gz", name())))?;
    }
    Ok(())
}

fn make(folder: &Path) -> Result<()> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Error::failed("releases are built on x86-64; use such a machine"));
    }
    std::fs::create_dir_all(folder).map_err(at(folder))?;
    // Both programs and archives bear the time and the name of the commit, so that the same commit gives the same bytes.
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    let commit = if changed.is_empty() { commit } else { format!("{commit} with changes") };
    let seconds: u64 = git(&["show", "--no-patch", "--format=%ct", "HEAD"])?.parse().unwrap_or(0);

    let tools = tools::Tools::install(&folder.join("tools"))?;
    let built = build::programs(&tools, &commit)?;
    crate::build::workloads(false)?;
    let release = stage::release(folder, &built)?;

    let name = name();
    let packed = [
        (format!("{name}.tar.gz"), archive::tar_gz(&release.files, &format!("{name}/"), seconds)?),
        (
            format!("{name}-debug.tar.gz"),
            archive::tar_gz(&release.debug, &format!("{name}-debug/"), seconds)?,
        ),
        (
            format!("terrace_{VERSION}_amd64.deb"),
            deb::package(&stage::debian(folder, &release)?, &folder.join("scratch"), VERSION, seconds)?,
        ),
    ];
    let mut sums = String::new();
    for (file, bytes) in packed {
        sums += &archive::keep(&folder.join(&file), &bytes)?;
        eprintln!("target/dist/{file}: {:.1} MB", bytes.len() as f64 / 1e6);
    }
    write(&folder.join(SUMS), &sums)
}

fn git(arguments: &[&str]) -> Result<String> {
    let output =
        Command::new("git").current_dir(root()).args(arguments).output().map_err(|error| {
            Error::failed(format!("git: {error}; install it: a release names its commit"))
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

/// An error that names the file.
fn at(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |error| Error::failed(format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(at(path))
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).map_err(at(to))
}

/// An empty folder.
fn fresh(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(at(folder))?;
    }
    std::fs::create_dir_all(folder).map_err(at(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The version stands in Cargo.toml; what Maven builds has to agree.
    #[test]
    fn java_has_the_version_of_the_workspace() {
        for pom in ["pom.xml", "workloads/pom.xml", "benchmarks/pom.xml", "applications/pom.xml"] {
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
