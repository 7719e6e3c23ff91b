//! The arena under tools that watch every access: Valgrind and AddressSanitizer. What is not installed is skipped by name.

use crate::cargo::cargo;
use crate::shell::{self, root, works};
use crate::{child, skipped};
use jvm::{Error, Result};
use std::path::PathBuf;
use std::process::{Command, Stdio};

pub fn run() -> Result<()> {
    skipped::forget();
    let outcome = watched().and_then(|()| all());
    for skip in skipped::all() {
        eprintln!("skipped: {skip}");
    }
    outcome
}

/// What takes a minute: the arena that tells the tools what is handed out, in programs with faults that they have to report.
pub fn watched() -> Result<()> {
    let mut tests = cargo();
    tests.args(["test", "--quiet", "--profile", "checked", "-p", "terrace-arena", "-p", "terrace-arena-c"]);
    // In C both tools, in Rust what needs no other compiler.
    tests.args(["--features", "terrace-arena/memcheck,terrace-arena-c/asan,terrace-arena-c/memcheck"]);
    shell::run(tests.args(["--test", "watched"]))?;
    if has_nightly() {
        shell::run(sanitized().args(["--features", "asan", "--test", "watched"]))?;
    }
    Ok(())
}

/// The tests of an arena that tells nothing.
fn all() -> Result<()> {
    if works(Command::new("valgrind").arg("--version")) {
        valgrind()?;
    } else {
        skipped::note("valgrind", "not installed (apt install valgrind)");
    }
    if has_nightly() { address_sanitizer() } else { Ok(()) }
}

fn has_nightly() -> bool {
    let found = works(Command::new("rustup").args(["run", "nightly", "cargo", "--version"]));
    if !found {
        skipped::note("AddressSanitizer in Rust", "no nightly toolchain (rustup toolchain install nightly)");
    }
    found
}

/// Valgrind refuses the system call that registers restartable sequences, so here core buffers are compare and swap, and the current
/// CPU is asked for by `getcpu`.
fn valgrind() -> Result<()> {
    let test = built_test()?;
    shell::run(under_valgrind().arg(test).arg("--test-threads=1"))?;
    if !works(Command::new("cc").arg("--version")) {
        skipped::note("the C example", "no C compiler 'cc' on PATH");
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
    shell::run(under_valgrind().arg(program))
}

fn under_valgrind() -> Command {
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
    let output = child::output(build.args(["--message-format", "json"]).stdout(Stdio::piped()))?;
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
    let mut tests = sanitized();
    tests.arg("--lib");
    for test in ["use", "many", "edges", "holds", "model", "returns", "threads", "interrupted"] {
        tests.args(["--test", test]);
    }
    shell::run(&mut tests)?;
    // Again with what is not handed out poisoned. The other tests count bytes, and blocks are larger then.
    shell::run(sanitized().args(["--features", "asan", "--test", "many", "--test", "threads"]))
}

/// The arena's tests, built with AddressSanitizer.
fn sanitized() -> Command {
    let mut tests = Command::new("rustup");
    tests.current_dir(root()).env("RUSTFLAGS", "-Zsanitizer=address").env(skips::FILE, skipped::file());
    tests.args(["run", "nightly", "cargo", "test", "--quiet", "-p", "terrace-arena"]);
    // Named, so that build scripts are built without.
    tests.args(["--target", &format!("{}-unknown-linux-gnu", std::env::consts::ARCH)]);
    tests.arg("--target-dir").arg(root().join("target/sanitize"));
    tests
}
