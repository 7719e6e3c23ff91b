//! `cargo xtask aarch64`: built for aarch64 on an x86-64 machine, and tested there under an emulator: unit tests, and real JVMs of that
//! processor. What it cannot show is in docs/aarch64.md.

mod parts;

use crate::cargo::cargo;
use crate::shell::{self, root};
use crate::skipped;
use jvm::{Error, Result};
pub use parts::{Parts, TRIPLE};
use std::process::Command;

/// Options of `aarch64`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only fetch everything needed, once; later runs need no network.
    #[arg(long)]
    fetch: bool,
    /// Skip the JVMs: the emulator takes a minute per launch.
    #[arg(long)]
    quick: bool,
    /// Only the launches of JVMs whose names contain one of these, such as `load::G1::25` or `attach::`.
    #[arg(conflicts_with_all = ["fetch", "quick"])]
    launches: Vec<String>,
}

/// The crates that run in a JVM or in a user's program, with all of their tests. The others are tools, and do the same on every
/// processor.
const CRATES: [&str; 5] =
    ["terrace-hab", "terrace-topology", "terrace-pages", "terrace-control", "terrace-arena"];
/// Those whose other tests launch JVMs or read their libraries, which is done from outside.
const INSIDE: [&str; 2] = ["terrace-hotspot", "terrace-agent"];

/// What an emulated process cannot do, and the tests of it.
const NOT_EMULATED: [(&str, &[&str]); 2] = [
    (
        "an emulated process cannot start another aarch64 program",
        &[
            "a_process_has_it_among_its_descriptors",
            "process_1_of_two_containers",
            "a_limit_on_files_is_an_error",
            "scarce_memory_gives_errors",
            "a_plugin_that_is_closed_leaves",
            "a_thread_that_was_pinned_meanwhile",
        ],
    ),
    (
        "the emulator does not report the pages of a process",
        &[
            "small_pages_are_obtained",
            "neighbours_are_counted_apart",
            "transparent_pages_are_aligned",
            "our_own_process_has_memory",
        ],
    ),
];

/// Launches that show what could be different: every collector on every JDK under load and attached to, with heap verification; and
/// one of each other kind.
const LAUNCHES: [&str; 10] = [
    "load::",
    "attach::core::",
    "publication::",
    "switching::on_off::G1::25",
    "switching::two_levels::Parallel::21",
    "levels::core+processor::Serial::17",
    "short_lived_threads::G1::21",
    "full_heap::return::Parallel::25",
    "without_tlabs::core::Serial::17",
    "accounting::pauses_and_walks::G1::25",
];

/// Builds and tests; stops at the first that fails.
pub fn run(arguments: &Arguments) -> Result<()> {
    let parts = Parts::install()?;
    if arguments.fetch {
        return Ok(());
    }
    skipped::forget();
    let outcome = steps(&parts, arguments);
    for skip in skipped::all() {
        eprintln!("skipped: {skip}");
    }
    outcome
}

fn steps(parts: &Parts, arguments: &Arguments) -> Result<()> {
    if arguments.launches.is_empty() {
        for (crates, kinds) in [(&CRATES[..], &["--lib", "--tests"][..]), (&INSIDE, &["--lib"])] {
            let packages = crates.iter().flat_map(|name| ["-p", name]);
            let mut test = checked(parts, "test");
            test.arg("--no-fail-fast").args(packages).args(kinds).arg("--");
            for (why, names) in NOT_EMULATED {
                for name in names {
                    skipped::note(name, why);
                    test.args(["--skip", name]);
                }
            }
            shell::run(&mut test)?;
        }
        shell::run(of_aarch64(&mut of_this_machine("slots"), parts)?)?;
    }
    if arguments.quick {
        return Ok(());
    }
    shell::run(checked(parts, "build").args(["-p", "terrace-agent"]))?;
    launches(parts, &arguments.launches)
}

/// With the tests' profile, in a folder of its own: it is another compiler's.
fn checked(parts: &Parts, subcommand: &str) -> Command {
    let mut command = parts.cargo(subcommand);
    command
        .args(["--quiet", "--profile", "checked", "--locked", "--target-dir"])
        .arg(root().join("target/aarch64/build"));
    command.env(skips::FILE, skipped::file());
    command
}

/// A test program that runs on this machine. Chosen out of the whole workspace, so that cargo takes the crates that `cargo xtask test` has built.
fn of_this_machine(name: &str) -> Command {
    let mut test = cargo();
    test.args(["test", "--quiet", "--profile", "checked", "--workspace", "--test", name]);
    test
}

/// Tests that look at the runtimes for aarch64 in place of this machine's.
fn of_aarch64<'a>(test: &'a mut Command, parts: &Parts) -> Result<&'a mut Command> {
    let runtimes = std::env::join_paths(parts.runtimes()).map_err(|error| {
        Error::failed(format!("target/aarch64/jdks: {error}; use a directory without colons"))
    })?;
    Ok(test.env("TERRACE_JDKS", runtimes).env("TERRACE_MACHINE", "aarch64"))
}

/// The declarations of `crates/agent/tests/jvm`, run on this machine with runtimes that the emulator runs.
fn launches(parts: &Parts, names: &[String]) -> Result<()> {
    let agent = root().join("target/aarch64/build").join(TRIPLE).join("checked/libterrace.so");
    let mut test = of_this_machine("jvm");
    test.arg("--");
    if names.is_empty() {
        test.args(LAUNCHES);
        // For README's table: cargo xtask results --launches FILE.
        let written = root().join("target/aarch64/launches.jsonl");
        let _ = std::fs::remove_file(&written);
        test.env("TERRACE_LAUNCHES", written);
    } else {
        test.args(names);
    }
    shell::run(of_aarch64(test.env("TERRACE_AGENT", agent), parts)?)
}
