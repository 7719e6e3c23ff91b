//! How a real program allocates, as a file from which a simulated one can take it.
//!
//! Two JVMs run the workload on one thread, in whole rounds; a round of `javac` is one compile of the whole library. Both warm
//! up first: what compiled code no longer allocates (escape analysis) is not to be counted.
//!
//! 1. Under ordinary flags, for the CPU time and the bytes of each round.
//! 2. Without thread buffers, whose retired tails would look like objects, in a young generation in which nothing is
//!    collected meanwhile: two heap dumps around one round differ in every object that it allocated.

mod document;
mod hprof;
mod run;
mod sizes;

use crate::build;
use crate::files::{at, create, write};
use crate::shell::root;
use compare::clock;
use compare::machine::Host;
use document::{Mutator, Profile};
use jvm::jdk::Jdk;
use jvm::workload::Workload;
use jvm::{Error, Result};
use run::{Report, Run};
use sizes::Sizes;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Options of `profile`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The JDK's feature version [default: the newest with a compiler].
    #[arg(long)]
    jdk: Option<u32>,

    /// The workload; only javac has rounds that end.
    #[arg(long, default_value = "javac", value_parser = workload)]
    workload: Workload,

    /// File for the profile [default: crates/coherence/profiles/WORKLOAD.toml].
    #[arg(long)]
    out: Option<PathBuf>,
}

/// A heap whose young generation holds what two compiles allocate, and does not change its size.
const HEAP: [&str; 4] = ["-Xms3g", "-Xmx3g", "-Xmn2g", "-XX:-UseAdaptiveSizePolicy"];
/// What the hprof reader assumes of objects.
const LAYOUT: &str = "-XX:+UseCompressedOops";
/// The heap, and what a JVM needs besides.
const MEMORY_BYTES: u64 = 4 << 30;
/// Compiles until the JIT compiler leaves CPU time and allocation alone: it took 24, and for the bytes alone 12.
const WARMUP: (u64, u64) = (25, 16);
/// Compiles that are timed: the median is of so many.
const TIMED: u64 = 15;
/// Compiles whose objects are counted: one fits the young generation, and the next allocates the same.
const COUNTED: u64 = 1;
/// The dumps and the JVM's own count of bytes may differ by this share. Other threads' objects are in the dumps only.
const TOLERANCE: f64 = 0.01;

fn workload(text: &str) -> std::result::Result<Workload, Error> {
    match text.parse()? {
        Workload::Javac => Ok(Workload::Javac),
        other => Err(Error::usage(format!("{} has no rounds that end: use javac", other.name()))),
    }
}

/// Records the profile and writes it.
pub fn run(arguments: &Arguments) -> Result<()> {
    let jdk = jdk(arguments.jdk)?;
    let out = out(arguments)?;
    enough_memory()?;
    build::workloads(crate::maven::Goal::Jar)?;
    // Beside the build: dumps are a GB, and TMPDIR may be memory. The folder goes with this value, on errors too.
    let parent = root().join("target/terrace");
    create(&parent)?;
    let folder = tempfile::Builder::new().prefix("profile-").tempdir_in(&parent).map_err(at(&parent))?;
    let profile = record(arguments.workload, &jdk, folder.path())?;
    create(out.parent().unwrap_or(Path::new(".")))?;
    write(&out, profile.to_toml())?;
    println!("{}", profile.summary());
    println!("profile: {}", out.strip_prefix(root()).unwrap_or(&out).display());
    Ok(())
}

fn jdk(feature: Option<u32>) -> Result<Jdk> {
    let wanted = |jdk: &Jdk| jdk.has_compiler && feature.is_none_or(|feature| jdk.feature == feature);
    jvm::jdk::measured().into_iter().find(wanted).ok_or_else(|| {
        let version = feature.map_or("17, 21 or 25".into(), |feature| feature.to_string());
        Error::usage(format!("no JDK {version} with a compiler found; install one, or set JAVA_HOME"))
    })
}

fn out(arguments: &Arguments) -> Result<PathBuf> {
    if let Some(path) = &arguments.out {
        return Ok(path.clone());
    }
    let simulator = root().join("crates/coherence");
    if !simulator.join("Cargo.toml").is_file() {
        // A folder without a crate in it would stop cargo from reading the workspace.
        return Err(Error::usage(
            "crates/coherence, which contains the profile, not found; specify a file with --out",
        ));
    }
    Ok(simulator.join("profiles").join(format!("{}.toml", arguments.workload.name())))
}

fn enough_memory() -> Result<()> {
    // Where the kernel does not tell, the JVM will.
    let available = compare::machine::available_bytes().unwrap_or(u64::MAX);
    enough(available.min(compare::machine::memory_bytes()))
}

fn enough(available: u64) -> Result<()> {
    if available >= MEMORY_BYTES {
        return Ok(());
    }
    Err(Error::failed(format!(
        "a profile requires {} of memory, and {} are available; close other programs first",
        present::numbers::human(MEMORY_BYTES as f64),
        present::numbers::human(available as f64)
    )))
}

fn record(workload: Workload, jdk: &Jdk, folder: &Path) -> Result<Profile> {
    let machine = Host::here();
    let flags = [&HEAP[..], &[LAYOUT]].concat();
    let timed =
        Run { workload, jdk, flags: &flags, warmup_rounds: WARMUP.0, rounds: TIMED, folder, dumps: false };
    let what = format!("{} {}", workload.name(), jdk.feature);
    let timing = timed.run(&format!("{what}, time"), 60)?;
    let clock_ghz = clock::cycle_nanoseconds().map(|cycle| 1.0 / cycle);
    let counted_flags = [&flags[..], &["-XX:-UseTLAB"]].concat();
    let counted =
        Run { flags: &counted_flags, warmup_rounds: WARMUP.1, rounds: COUNTED, dumps: true, ..timed };
    let counting = counted.run(&format!("{what}, objects"), 45)?;
    let sizes = difference(folder, &counting)?;
    let mutator = Mutator::of(&timing.rounds, &sizes)
        .ok_or_else(|| Error::failed("the heap dumps differ by no object"))?;
    Ok(Profile {
        workload: workload.name().into(),
        feature: jdk.feature,
        jdk: jdk.describe(),
        machine,
        clock_ghz,
        flags: flags.join(" "),
        warmup: WARMUP,
        calls: timing.batches_in_round,
        facts: timing.facts,
        counted_bytes: counting.rounds[0].allocated_bytes as u64,
        sizes,
        mutator,
    })
}

/// The objects of the measured round: those in the second dump that are not in the first.
fn difference(folder: &Path, report: &Report) -> Result<Sizes> {
    eprintln!("terrace: reading the heap dumps");
    let read = |name: &str| {
        let path = folder.join(name);
        let file = File::open(&path).map_err(at(&path))?;
        let sizes = hprof::read(BufReader::with_capacity(1 << 20, file))?;
        // They are large; the second one waits until this is gone.
        let _ = std::fs::remove_file(&path);
        Ok::<Sizes, Error>(sizes)
    };
    let (before, after) = (read("before.hprof")?, read("after.hprof")?);
    let sizes = after.since(&before).ok_or_else(|| {
        Error::failed("objects disappeared between the heap dumps, perhaps by a collection; try again")
    })?;
    let own: f64 = report.rounds.iter().map(|round| round.allocated_bytes).sum();
    let off = (sizes.bytes() as f64 - own) / own;
    if off.abs() > TOLERANCE || report.rounds.iter().any(|round| round.collections > 0) {
        return Err(Error::failed(format!(
            "the heap dumps hold {} bytes of new objects, the JVM counted {own}: the object layout differs from the one that \
             the reader assumes",
            sizes.bytes()
        )));
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_memory_is_said_before_anything_runs() {
        assert!(
            enough(2_048_000_000)
                .unwrap_err()
                .to_string()
                .contains("requires 4.29 GB of memory, and 2.05 GB")
        );
        assert!(enough(MEMORY_BYTES).is_ok());
    }

    #[test]
    fn only_javac_has_rounds() {
        assert_eq!(workload("javac").unwrap(), Workload::Javac);
        assert!(workload("alloc").unwrap_err().to_string().contains("use javac"));
    }
}
