//! Programs and files driven by coverage: each fuzz target of `crates/*/fuzz`, from its committed corpus.
//!
//! The targets are built as `cargo fuzz` does, with nothing but a nightly compiler and a C++ compiler: libFuzzer comes with `libfuzzer-sys`.

use crate::child;
use crate::files::{at, copy, create, fresh};
use crate::shell::{self, root, works};
use jvm::{Error, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Options of `fuzz`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Seconds per target.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Only targets whose name contains this (hab/operations, coherence) [default: all].
    #[arg(long, default_value = "")]
    target: String,
    /// Afterwards replace the committed corpora with the smallest ones that cover everything found.
    #[arg(long)]
    keep: bool,
}

/// Coverage for libFuzzer, AddressSanitizer, and assertions.
const FLAGS: [&str; 9] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "-Zsanitizer=address",
    "-Cdebug-assertions",
];
/// Bytes of an input: the largest machine's file has 4,000.
const LONGEST: u32 = 4096;
/// An input that takes longer is an error.
const TIMEOUT_SECONDS: u32 = 120;

#[derive(Debug)]
struct Target {
    /// The crate that it is about.
    of: String,
    name: String,
    /// The crate that it is in.
    folder: PathBuf,
}

impl Target {
    fn shown(&self) -> String {
        format!("{}/{}", self.of, self.name)
    }

    /// What is committed.
    fn corpus(&self) -> PathBuf {
        self.folder.join("corpus").join(&self.name)
    }

    /// What a run finds.
    fn found(&self) -> PathBuf {
        build_folder().join("found").join(&self.of).join(&self.name)
    }

    fn program(&self) -> PathBuf {
        self.found().with_extension("program")
    }
}

/// Named, so that build scripts are built without the flags.
fn triple() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

fn build_folder() -> PathBuf {
    root().join("target/fuzz")
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).map_err(at(folder))?.flatten().map(|entry| entry.path()).collect();
    found.sort();
    Ok(found)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Every file of `crates/*/fuzz/fuzz_targets`.
fn targets() -> Result<Vec<Target>> {
    let mut targets = Vec::new();
    for of in entries(&root().join("crates"))? {
        let folder = of.join("fuzz");
        if folder.join("fuzz_targets").is_dir() {
            let sources = entries(&folder.join("fuzz_targets"))?;
            targets.extend(sources.iter().map(|source| Target {
                of: stem(&of),
                name: stem(source),
                folder: folder.clone(),
            }));
        }
    }
    Ok(targets)
}

/// Why nothing can be fuzzed here.
pub fn missing() -> Option<&'static str> {
    if !works(Command::new("rustup").args(["run", "nightly", "rustc", "--version"])) {
        Some("no nightly toolchain (rustup toolchain install nightly)")
    } else if !works(Command::new("c++").arg("--version")) {
        Some("no C++ compiler 'c++' on PATH")
    } else {
        None
    }
}

/// Builds each crate's targets in one folder, because most of what they need is the same. So is the name of some.
fn build(targets: &[Target]) -> Result<()> {
    for of_one in targets.chunk_by(|one, other| one.folder == other.folder) {
        // `cargo +nightly` is rustup's: the cargo that runs this is the stable one itself.
        shell::run(
            Command::new("rustup")
                .current_dir(&of_one[0].folder)
                .env("RUSTFLAGS", FLAGS.join(" "))
                .args(["run", "nightly", "cargo", "build", "--quiet", "--release", "--bins"])
                .args(["--target", &triple(), "--target-dir"])
                .arg(build_folder()),
        )?;
        for target in of_one {
            let built = build_folder().join(triple()).join("release").join(&target.name);
            let program = target.program();
            create(target.found())?;
            copy(built, program)?;
        }
    }
    Ok(())
}

/// Runs the fuzzer on what the arguments choose.
pub fn run(arguments: &Arguments) -> Result<()> {
    if let Some(missing) = missing() {
        return Err(Error::failed(missing));
    }
    let mut targets = targets()?;
    targets.retain(|target| target.shown().contains(&arguments.target));
    if targets.is_empty() {
        return Err(Error::usage(format!("no fuzz target's name contains '{}'", arguments.target)));
    }
    build(&targets)?;
    fuzz(&targets, arguments.seconds)?;
    if arguments.keep { targets.iter().try_for_each(keep) } else { Ok(()) }
}

/// Every target for so long, two at a time.
fn fuzz(targets: &[Target], seconds: u64) -> Result<()> {
    let waiting = Mutex::new(targets.iter());
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(target) = waiting.lock().ok().and_then(|mut waiting| waiting.next()) {
                    match fuzz_one(target, seconds) {
                        Ok(told) => eprintln!("fuzz {}: {told}", target.shown()),
                        Err(error) => {
                            failures.lock().into_iter().for_each(|mut all| all.push(error.to_string()))
                        }
                    }
                }
            });
        }
    });
    child::go_on()?;
    let failures = failures.into_inner().unwrap_or_default();
    if failures.is_empty() { Ok(()) } else { Err(Error::failed(failures.join("\n"))) }
}

/// Runs one; says how much it did.
fn fuzz_one(target: &Target, seconds: u64) -> Result<String> {
    child::go_on()?;
    let (found, corpus) = (target.found(), target.corpus());
    for folder in [&found, &corpus] {
        create(folder)?;
    }
    let inputs = entries(&corpus)?.len();
    let log = found.with_extension("log");
    let output = File::create(&log).map_err(at(&log))?;
    let errors = output.try_clone().map_err(at(&log))?;
    let artifacts = found.with_extension("input-");
    let mut running = Command::new(target.program())
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-max_len={LONGEST}"))
        .arg(format!("-timeout={TIMEOUT_SECONDS}"))
        .arg(format!("-artifact_prefix={}", artifacts.display()))
        .args(["-print_final_stats=1", "-rss_limit_mb=4096"])
        // The first folder is written to.
        .args([&found, &corpus])
        .stdout(output)
        .stderr(errors)
        .spawn()
        .map_err(at(&target.program()))?;
    let status = child::wait(&mut running)?;
    let text = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
    if !status.success() {
        let lines: Vec<&str> = text.lines().collect();
        let end = lines[lines.len().saturating_sub(60)..].join("\n");
        return Err(Error::failed(format!(
            "fuzz {}: {status}\n{end}\nrepeat it with: {} INPUT",
            target.shown(),
            target.program().display()
        )));
    }
    let runs = text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    let runs = runs.map_or("0", str::trim);
    Ok(format!("{runs} programs in {seconds} s, beginning with {inputs} of the corpus"))
}

/// The smallest corpus that covers what the committed one and the found inputs cover.
fn keep(target: &Target) -> Result<()> {
    let merged = target.found().with_extension("merged");
    fresh(&merged)?;
    shell::run(
        Command::new(target.program())
            // Not how often code was run, only which: a few inputs, that one can commit.
            .args(["-set_cover_merge=1", "-use_counters=0", "-verbosity=0"])
            .arg(format!("-max_len={LONGEST}"))
            .args([&merged, &target.corpus(), &target.found()]),
    )?;
    fresh(&target.corpus())?;
    entries(&merged)?
        .iter()
        .try_for_each(|input| copy(input, target.corpus().join(input.file_name().unwrap_or_default())))
}

/// For `test`: so many seconds of each target.
pub fn briefly(seconds: u64) -> Result<()> {
    let targets = targets()?;
    build(&targets)?;
    fuzz(&targets, seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `cargo xtask test` says where nothing can be fuzzed: "the committed inputs were run as tests".
    #[test]
    fn a_test_reads_every_committed_corpus() {
        let targets = targets().unwrap();
        assert!(targets.len() > 4, "{targets:?}");
        for target in targets {
            let corpus = format!("/fuzz/corpus/{}\"", target.name);
            let tests = entries(&root().join("crates").join(&target.of).join("tests")).unwrap();
            let mut sources = tests.iter().filter(|path| path.extension().is_some_and(|end| end == "rs"));
            let is_read = sources.any(|path| fs::read_to_string(path).unwrap().contains(&corpus));
            assert!(is_read && !entries(&target.corpus()).unwrap().is_empty(), "{}", target.shown());
        }
    }
}
