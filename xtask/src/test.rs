//! Every test.
//!
//! What is shipped is built once, as it is shipped, and is what the launches of real JVMs and the golden table look at. All other tests are
//! built with the profile `checked`: every assertion, and no time for the linker to optimise forty programs that run once.

use crate::cargo::{self, cargo};
use crate::places::installed;
use crate::shell::{self, root, works};
use crate::{applications, build, fuzz, jdks, sanitize, skipped};
use jvm::os::own_cpu_seconds;
use jvm::{Error, Result};
use std::num::NonZero;
use std::process::Command;
use std::time::Instant;

/// Options of `test`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Skip the real JVMs, the model checking and the fuzzing: for use during development.
    #[arg(long)]
    quick: bool,
    /// How long each fuzz target runs, if a nightly toolchain is installed; 0 disables fuzzing.
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    fuzz: u64,
    /// Launch every hazard with each collector on each installed JDK: 2,600 launches with all JDKs. Otherwise a hazard runs with each collector on one JDK,
    /// another one for each commit (TERRACE_TURN=N, which the launches print, repeats a choice).
    #[arg(long)]
    all: bool,
    /// First fetch every Java runtime that terrace supports (cargo xtask jdks --all).
    #[arg(long)]
    all_jdks: bool,
    /// Continue without a Java runtime that cannot be installed.
    #[arg(long, value_name = "FEATURE")]
    without_jdk: Vec<u32>,
}

/// Launches that the agent with debug assertions has to survive too: each way into it, on each JDK.
const WITH_ASSERTIONS: [&str; 8] = [
    "switching::bound::Serial::25",
    "switching::bound::Parallel::17",
    "switching::bound::G1::21",
    "switching::two_levels::G1::25",
    "switching::two_levels::Shenandoah::25",
    "attach::two_levels::Parallel::25",
    "levels::core+processor::G1::17",
    "without_tlabs::core::Serial::17",
];

/// Runs them; stops at the first that fails.
pub fn run(arguments: &Arguments) -> Result<()> {
    let since = Instant::now();
    skipped::forget();
    let outcome = steps(arguments);
    for skip in skipped::all() {
        eprintln!("skipped: {skip}");
    }
    outcome?;
    eprintln!("cargo xtask test: all passed in {} s", since.elapsed().as_secs());
    Ok(())
}

fn steps(arguments: &Arguments) -> Result<()> {
    step("formatting", formatting)?;
    if !arguments.quick {
        // Before anything that takes long: it needs the network, and may fail.
        step("Java runtimes", || java_runtimes(arguments))?;
    }
    if arguments.quick {
        step("agent and Java tests", build::for_tests)?;
        step("lints", lints)?;
        let mut tests = checked("test");
        return step("unit tests", || shell::run(tests.args(["--workspace", "--lib", "--bins"])));
    }
    step("agent, Java tests, lints and test programs", everything_built)?;
    step("applications", || {
        // Without the network, and without what was fetched before, everything else can still be tested.
        if let Some(unreachable) = applications::fetch_and_test()? {
            skipped::note("applications", unreachable);
        }
        Ok(())
    })?;
    step("golden table", || {
        shell::run(cargo().args(["test", "--quiet", "--release", "-p", "terrace-golden"]))
    })?;
    step("tests, and model checking beside them", || {
        std::thread::scope(|scope| {
            let models = scope.spawn(model_checking);
            let tests = tests();
            let models = models.join().expect("it returns its errors");
            tests.and(models)
        })
    })?;
    step("without restartable sequences", without_sequences)?;
    step("sanitizers", sanitize::watched)?;
    step("launches with assertions", || shell::run(launches().arg("--").args(WITH_ASSERTIONS)))?;
    // Side by side with the tests they take as long as after them: either has the processors busy.
    step("launches", || {
        // What is shipped, under the test program that is built already.
        let mut launches = launches();
        launches.env("TERRACE_AGENT", installed().agent()?);
        launches.env("TERRACE_TURN", turn());
        if arguments.all {
            // For README's table: cargo xtask results --launches FILE.
            let written = root().join("target/launches.jsonl");
            let _ = std::fs::remove_file(&written);
            launches.env("TERRACE_LAUNCHES", written);
        }
        shell::run(launches.args(if arguments.all { &["--", "--all"][..] } else { &[] }))
    })?;
    step("fuzzing", || fuzzing(arguments.fuzz))
}

/// A step, how long it took and how much of the processors: the whole has to stay bearable, and waiting has another remedy than work.
fn step(name: &str, body: impl FnOnce() -> Result<()>) -> Result<()> {
    let (since, cpu) = (Instant::now(), own_cpu_seconds());
    let outcome = body();
    let cpu = own_cpu_seconds() - cpu;
    eprintln!("=== {name}: {:.0} s, {cpu:.0} s of CPU time", since.elapsed().as_secs_f64());
    outcome
}

/// Cargo with the tests' profile.
fn checked(command: &str) -> Command {
    let mut cargo = cargo();
    cargo.args([command, "--quiet", "--profile", "checked"]);
    cargo
}

/// The tests of every crate but the one that looks at what is shipped, and without launches.
fn workspace() -> Command {
    let mut tests = checked("test");
    tests.args(["--workspace", "--exclude", "terrace-golden"]);
    tests
}

/// The launches of real JVMs. Chosen out of the whole workspace: cargo builds what several packages use for those that are chosen, with the
/// features that these want, and would build twenty of them again for one package alone.
fn launches() -> Command {
    let mut launches = checked("test");
    launches.args(["--workspace", "--test", "jvm"]);
    launches
}

/// Which collectors meet which JDKs without `--all` (crates/agent/tests/jvm/matrix.rs): another choice for each commit, the same whoever repeats
/// it. Without git it is always the same one.
fn turn() -> String {
    std::env::var("TERRACE_TURN").unwrap_or_else(|_| {
        let count = Command::new("git").current_dir(root()).args(["rev-list", "--count", "HEAD"]).output();
        let count = count.ok().filter(|output| output.status.success());
        count.map_or("0".into(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    })
}

fn tests() -> Result<()> {
    build::checked()?;
    // Many wait for what a JVM does, and the last of a program's tests runs alone: as many again fill the gaps.
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    // All that fails is told at once.
    shell::run(workspace().env("RUST_TEST_THREADS", (2 * processors).to_string()).arg("--no-fail-fast"))
}

/// What is shipped, and beside it the lints and the test programs: the linker, which optimises what is shipped, and Maven leave a
/// processor idle for minutes, and the two profiles have folders of their own.
fn everything_built() -> Result<()> {
    std::thread::scope(|scope| {
        let checked = scope.spawn(|| {
            lints()?;
            shell::run(workspace().arg("--no-run"))?;
            shell::run(launches().arg("--no-run"))
        });
        let shipped = build::for_tests();
        let checked = checked.join().expect("it returns its errors");
        shipped.and(checked)
    })
}

fn has(component: &str) -> bool {
    let found = works(cargo().args([component, "--version"]));
    if !found {
        skipped::note(component, format_args!("not installed (rustup component add {component})"));
    }
    found
}

fn formatting() -> Result<()> {
    if has("fmt") { shell::run(cargo().args(["fmt", "--all", "--check"])) } else { Ok(()) }
}

fn lints() -> Result<()> {
    if !has("clippy") {
        return Ok(());
    }
    // All targets are those that cargo tests without being asked to.
    for targets in [&["--all-targets"][..], &["--test", "jvm"]] {
        shell::run(checked("clippy").arg("--workspace").args(targets).args(["--", "-D", "warnings"]))?;
    }
    // Without the lab and the simulator, as docs/architecture.md says that it can be built.
    shell::run(checked("clippy").args(["-p", "terrace-cli", "--no-default-features", "--", "-D", "warnings"]))
}

/// The arena as on a processor that has none: another build of a few crates, in a folder of its own.
fn without_sequences() -> Result<()> {
    shell::run(
        checked("test")
            .env("RUSTFLAGS", "--cfg no_sequences")
            .arg("--target-dir")
            .arg(root().join("target/no_sequences"))
            .args(["-p", "terrace-arena", "--lib", "--tests"]),
    )
}

/// Loom replaces the atomics of the hierarchy and of the arena: another build, in a folder of its own.
///
/// Each execution maps and unmaps its threads' stacks, which the threads of one process do one after the other: processes of one
/// thread each, side by side, are faster than one process of several threads.
fn model_checking() -> Result<()> {
    const HIERARCHY: [&str; 4] = ["-p", "terrace-hab", "--test", "loom"];
    const ARENA: [&str; 3] = ["-p", "terrace-arena", "--lib"];
    for tests in [&HIERARCHY[..], &ARENA] {
        shell::run(loom().args(tests).arg("--no-run"))?;
    }
    let parts = [&["two_threads"][..], &["three_threads"], &["controls"], &["publication"], &["records"]]
        .map(|part| (&HIERARCHY[..], part));
    let arena: [&[&str]; 2] = [&["model::resized"], &["model", "--skip=model::resized"]];
    let parts = parts.into_iter().chain(arena.map(|part| (&ARENA[..], part)));
    std::thread::scope(|scope| {
        let run = |(tests, filter): (&'static [&str], &'static [&str])| {
            scope.spawn(move || shell::run(loom().args(tests).args(["--", "--test-threads=1"]).args(filter)))
        };
        let running: Vec<_> = parts.map(run).collect();
        running.into_iter().try_for_each(|part| part.join().expect("it returns its errors"))
    })
}

/// As it is shipped: loom's search is long, and assertions would make it several times as long. It takes what other tests leave of
/// the processors.
fn loom() -> Command {
    let mut cargo = cargo::behind();
    cargo.args(["test", "--quiet", "--release"]).env("RUSTFLAGS", "--cfg loom");
    // Optimised across crates a search is no faster, and takes longer to build.
    cargo.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    cargo.arg("--target-dir").arg(root().join("target/loom"));
    cargo
}

/// A runtime 21 is installed where the machine has none; all tests see it.
fn java_runtimes(arguments: &Arguments) -> Result<()> {
    if arguments.all_jdks {
        jdks::install_all()?;
    }
    // Without the network everything else can still be tested.
    if let Some(error) = jdks::install_graal()? {
        skipped::note("Graal's compiler on JDK 25", error);
    }
    match jdks::install() {
        Ok(()) => Ok(()),
        Err(error) if arguments.without_jdk.contains(&jdks::FEATURE) => {
            skipped::note(&format!("all tests on JDK {}", jdks::FEATURE), error);
            Ok(())
        }
        Err(error) => {
            Err(Error::failed(format!("{error}; to test without it: --without-jdk {}", jdks::FEATURE)))
        }
    }
}

fn fuzzing(seconds: u64) -> Result<()> {
    if seconds == 0 {
        skipped::note("fuzzing", "requested (--fuzz 0); the committed inputs were run as tests");
        return Ok(());
    }
    match fuzz::missing() {
        Some(missing) => {
            skipped::note("fuzzing", format_args!("{missing}; the committed inputs were run as tests"));
            Ok(())
        }
        None => fuzz::briefly(seconds),
    }
}
