//! The arena under tools that watch every access: Valgrind and AddressSanitizer. What is not installed is skipped by name.

use crate::cargo::cargo;
use crate::shell::{self, root, works};
use jvm::{Error, Result};
use std::path::PathBuf;
use std::process::Command;

/// Runs them.
pub fn run() -> Result<()> {
    if works(Command::new("valgrind").arg("--version")) {
        valgrind()?;
    } else {
        eprintln!("skipped: valgrind: not installed (apt install valgrind)");
    }
    if works(Command::new("rustup").args(["run", "nightly", "cargo", "--version"])) {
        address_sanitizer()
    } else {
        eprintln!("skipped: AddressSanitizer: no nightly toolchain (rustup toolchain install nightly)");
        Ok(())
    }
}

/// Valgrind refuses the system call that registers restartable sequences, so here core buffers are compare and swap, and the current
/// CPU is asked for by `getcpu`.
fn valgrind() -> Result<()> {
    let test = built_test()?;
    shell::run(watched().arg(test).arg("--test-threads=1"))?;
    if !works(Command::new("cc").arg("--version")) {
        eprintln!("skipped: the C example: no C compiler 'cc' on PATH");
        return Ok(());
    }
    shell::run(cargo().args(["build", "--quiet", "--release", "-p", "terrace-arena-c"]))?;
    let (release, folder) = (root().join("target/release"), root().join("crates/arena-c"));
    let program = release.join("words");
    shell::run(
        Command::new("cc")
            .args(["-std=c11", "-g", "-O1", "-I"])
            .arg(folder.join("include"))
            .arg(folder.join("example/words.c"))
            .arg("-o")
            .arg(&program)
            .arg(release.join("libterrace_arena.a"))
            .args(["-lpthread", "-ldl", "-lm", "-lgcc_s"]),
    )?;
    shell::run(watched().arg(program))
}

fn watched() -> Command {
    let mut command = Command::new("valgrind");
    command.args([
        "--quiet",
        "--error-exitcode=1",
        "--leak-check=full",
        "--show-leak-kinds=definite",
        "--errors-for-leak-kinds=definite",
    ]);
    command
}

/// The arena's test `use`, as cargo has built it.
fn built_test() -> Result<PathBuf> {
    let mut build = cargo();
    build.args(["test", "--no-run", "--quiet", "-p", "terrace-arena", "--test", "use"]);
    let output = build
        .args(["--message-format", "json"])
        .output()
        .map_err(|error| Error::failed(format!("cargo: {error}; install it, or put it on PATH")))?;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "use")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .ok_or_else(|| {
            Error::failed("the test `use` was not built; run: cargo test -p terrace-arena --test use")
        })
}

/// Not `scarce`, because the shadow needs more address space than that leaves, nor `global`, whose allocator frees nothing by design.
fn address_sanitizer() -> Result<()> {
    let mut tests = Command::new("rustup");
    tests.current_dir(root()).env("RUSTFLAGS", "-Zsanitizer=address");
    tests.args(["run", "nightly", "cargo", "test", "--quiet", "-p", "terrace-arena", "--lib"]);
    for test in ["use", "many", "edges", "model", "threads", "interrupted"] {
        tests.args(["--test", test]);
    }
    // Named, so that build scripts are built without.
    tests.args(["--target", "x86_64-unknown-linux-gnu", "--target-dir"]).arg(root().join("target/sanitize"));
    shell::run(&mut tests)
}
