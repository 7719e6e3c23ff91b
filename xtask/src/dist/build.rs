//! The programs of a release, built so that old systems run them and two builds are the same bytes.

use super::target::Target;
use super::tools::Tools;
use crate::cargo::cargo;
use crate::shell::{root, run};
use jvm::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest glibc that loads the libraries.
pub const GLIBC: &str = "2.17";

pub struct Built {
    pub command: PathBuf,
    pub agent: PathBuf,
    pub arena: PathBuf,
    pub arena_static: PathBuf,
}

/// Builds the command without any shared library, so that glibc and musl systems run it, and the libraries against an old glibc; the
/// command, too, where it cannot do without.
pub fn programs(tools: &Tools, target: &Target, commit: &str) -> Result<Built> {
    let libraries = root().join("target/dist/libraries");
    let mut zigbuild = tools.program("cargo-zigbuild");
    zigbuild.current_dir(root()).env("CARGO", cargo().get_program());
    without_its_folder(&mut zigbuild, tools)?;
    zigbuild.args(["zigbuild", "-p", "terrace-agent", "-p", "terrace-arena-c"]);
    zigbuild.args((!target.links_statically()).then_some(["-p", "terrace-cli"]).into_iter().flatten());
    zigbuild.arg("--target").arg(format!("{}.{GLIBC}", target.triple));
    run(options(target.compiler(&mut zigbuild), &libraries, commit, &[]))?;

    let mut programs = libraries.clone();
    if target.links_statically() {
        programs = root().join("target/dist/programs");
        let mut build = cargo();
        build.args(["build", "-p", "terrace-cli", "--target", target.triple]);
        run(options(&mut build, &programs, commit, &["-C", "target-feature=+crt-static"]))?;
    }

    let libraries = libraries.join(target.triple).join("release");
    let built = Built {
        command: programs.join(target.triple).join("release/terrace"),
        agent: libraries.join("libterrace.so"),
        arena: libraries.join("libterrace_arena.so"),
        arena_static: libraries.join("libterrace_arena.a"),
    };
    // musl knows its own loader by another name; all that glibc's gives is in libc there.
    run(tools
        .program("patchelf")
        .args(["--remove-needed", target.loader])
        .args([&built.agent, &built.arena]))?;
    Ok(built)
}

/// zig compiles its unwinder and a part of glibc when it links, and no option maps the paths in their debug information. It does not
/// have to: clang takes the folder it works in from `PWD` where that is one, and `/proc/self/cwd` is, for every process. What zig had
/// compiled for another folder is not taken, as its cache is this folder's own; nor is one Python's version in the names of its sources.
fn without_its_folder(zigbuild: &mut Command, tools: &Tools) -> Result<()> {
    let cache = root().join("target/dist/zig");
    for name in ["ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR", "CARGO_ZIGBUILD_CACHE_DIR"] {
        zigbuild.env(name, &cache);
    }
    zigbuild.env("PWD", "/proc/self/cwd").env("ZIG_LIB_DIR", tools.zig()?.join("lib"));
    Ok(())
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
pub fn strip(target: &Target, shipped: &Path, debug: &Path) -> Result<()> {
    run(target.tool("objcopy").arg("--only-keep-debug").args([shipped, debug]))?;
    run(target.tool("strip").arg("--strip-unneeded").arg(shipped))?;
    let Some(folder) = debug.parent() else { return Err(Error::failed("a debug file has no folder")) };
    let name = debug.file_name().unwrap_or_default();
    let mut link = std::ffi::OsString::from("--add-gnu-debuglink=");
    link.push(name);
    run(target.tool("objcopy").current_dir(folder).arg(link).arg(shipped))
}
