//! The programs of a release, built so that old systems run them and two builds are the same bytes.

use super::tools::Tools;
use crate::cargo::cargo;
use crate::shell::{root, run};
use jvm::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest glibc that loads the libraries.
pub const GLIBC: &str = "2.17";
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// What was built.
pub struct Built {
    pub command: PathBuf,
    pub agent: PathBuf,
    pub arena: PathBuf,
    pub arena_static: PathBuf,
}

/// Builds the command without any shared library, so that glibc and musl systems run it, and the libraries against an old glibc.
pub fn programs(tools: &Tools, commit: &str) -> Result<Built> {
    let libraries = root().join("target/dist/libraries");
    let mut zigbuild = tools.program("cargo-zigbuild");
    zigbuild.current_dir(root()).env("CARGO", cargo().get_program());
    zigbuild.args(["zigbuild", "-p", "terrace-agent", "-p", "terrace-arena-c"]);
    zigbuild.arg("--target").arg(format!("{TARGET}.{GLIBC}"));
    run(options(&mut zigbuild, &libraries, commit, &[]))?;

    let programs = root().join("target/dist/programs");
    let mut build = cargo();
    build.args(["build", "-p", "terrace-cli", "--target", TARGET]);
    run(options(&mut build, &programs, commit, &["-C", "target-feature=+crt-static"]))?;

    let libraries = libraries.join(TARGET).join("release");
    let built = Built {
        command: programs.join(TARGET).join("release/terrace"),
        agent: libraries.join("libterrace.so"),
        arena: libraries.join("libterrace_arena.so"),
        arena_static: libraries.join("libterrace_arena.a"),
    };
    // musl knows its own loader by another name; all that glibc's gives is in libc there.
    run(tools
        .program("patchelf")
        .args(["--remove-needed", "ld-linux-x86-64.so.2"])
        .args([&built.agent, &built.arena]))?;
    Ok(built)
}

fn options<'a>(command: &'a mut Command, target: &Path, commit: &str, flags: &[&str]) -> &'a mut Command {
    // No path of this machine in what is shipped.
    let cargo_home = std::env::var("CARGO_HOME")
        .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")))
        .unwrap_or_default();
    let mut all: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    for (from, to) in [(root().display().to_string(), "/terrace"), (cargo_home, "/cargo")] {
        if !from.is_empty() {
            all.push(format!("--remap-path-prefix={from}={to}"));
        }
    }
    command
        .args(["--release", "--locked", "--quiet", "--target-dir"])
        .arg(target)
        .env("CARGO_ENCODED_RUSTFLAGS", all.join("\u{1f}"))
        .env("TERRACE_COMMIT", commit)
}

/// Moves what debuggers want into a file beside `shipped`, whose name it then names.
pub fn strip(shipped: &Path, debug: &Path) -> Result<()> {
    run(Command::new("objcopy").arg("--only-keep-debug").args([shipped, debug]))?;
    run(Command::new("strip").arg("--strip-unneeded").arg(shipped))?;
    let Some(folder) = debug.parent() else { return Err(Error::failed("a debug file has no folder")) };
    let name = debug.file_name().unwrap_or_default();
    let mut link = std::ffi::OsString::from("--add-gnu-debuglink=");
    link.push(name);
    run(Command::new("objcopy").current_dir(folder).arg(link).arg(shipped))
}
