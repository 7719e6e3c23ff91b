//! Terrace's arena against its peers, in one process image and one run.
//!
//! | part | what it is |
//! |---|---|
//! | [`contestants`] | who is measured, and what is unfair in a comparison with it |
//! | [`objects`] | allocate many objects, then drop them all |
//! | [`small`] | an arena for each request |
//! | [`memory`] | what 1,000 threads hold that allocate little |
//! | [`fill`] | filling gigabytes on huge pages |
//! | `fresh`, `nogc` | allocation from memory used for the first time; mmtk's bump allocator |
//! | [`settings`] | the peers' settings |
//! | [`report`], [`reach`] | the tables; what was to be reached and what was |

mod contestants;
mod fill;
#[cfg(feature = "mmtk")]
mod fresh;
mod kept;
mod memory;
#[cfg(feature = "mmtk")]
mod nogc;
mod objects;
mod reach;
mod report;
mod settings;
mod small;

use arena::{PageSize, Policy};
use clap::Parser;
use contestants::Contestant;
use memory::Held;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Measures the arena against its peers.
#[derive(Parser)]
#[command(name = "terrace-arena-bench", version)]
struct Arguments {
    /// A quarter of the memory, and few rounds: to see that it works.
    #[arg(long)]
    quick: bool,

    /// Seconds for each size of objects and number of threads; at least six rounds are made in any case [default: 10, quick: 0].
    #[arg(long)]
    seconds: Option<u64>,

    /// The most memory that all objects of a pass take together [default: 256, quick: 64]. Beyond the caches the memory's bandwidth
    /// is measured too, which threads share; below about 16 the threads' start is.
    #[arg(long)]
    megabytes: Option<usize>,

    /// Leave the peers' settings alone, and everything on small pages. Otherwise they are told to keep freed memory, as the arena
    /// does, and to lie on huge pages.
    #[arg(long)]
    as_shipped: bool,

    /// Leave everything on small pages. Otherwise objects lie on transparent huge pages where they can be had: which small pages
    /// the kernel gives makes rounds of large objects differ by more than the contestants do.
    #[arg(long)]
    small_pages: bool,

    /// Measures what 1,000 threads hold with this contestant, in this process, and prints that.
    #[arg(long, hide = true)]
    memory_of: Option<Contestant>,

    /// Measures one pass on memory used for the first time, in this process, and prints that.
    #[cfg(feature = "mmtk")]
    #[arg(long, hide = true)]
    fresh: Option<String>,
}

/// Everything that a run found.
#[derive(Serialize)]
struct Findings {
    quick: bool,
    megabytes: usize,
    peers_keep_memory: bool,
    /// The kind of pages that objects lie on.
    pages: String,
    cpus: usize,
    cells: Vec<objects::Cell>,
    #[cfg(feature = "mmtk")]
    fresh: Vec<fresh::Fresh>,
    small: Vec<small::Small>,
    memory: BTreeMap<Contestant, Vec<Held>>,
    fills: Vec<fill::Filled>,
    /// Why something was not measured.
    missing: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match part(&arguments) {
        Some(found) => found.map(|found| println!("{found}")),
        None => run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("terrace-arena-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What this process is to measure for another one, as text.
fn part(arguments: &Arguments) -> Option<Result<String, String>> {
    fn text<T: Serialize>(found: Result<T, String>) -> Result<String, String> {
        serde_json::to_string(&found?).map_err(|error| error.to_string())
    }
    #[cfg(feature = "mmtk")]
    if let Some(pass) = &arguments.fresh {
        return Some(text(fresh::here(pass)));
    }
    arguments.memory_of.map(|contestant| text(memory::here(contestant)))
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let mut missing = Vec::new();
    let huge = Policy::Transparent.available(objects::MOST_BYTES);
    let pages = match (arguments.as_shipped || arguments.small_pages, &huge) {
        (false, Ok(())) => Policy::Transparent,
        _ => Policy::Small,
    };
    if !arguments.as_shipped {
        settings::begin_again_with(pages)?;
    }
    if let Err(error) = &huge {
        missing.push(format!("objects on transparent huge pages: {error}"));
    }
    let since = Instant::now();
    let quick = arguments.quick;
    let seconds = arguments.seconds.unwrap_or(if quick { 0 } else { 10 });
    let megabytes = arguments.megabytes.unwrap_or(if quick { 64 } else { 256 }).clamp(1, 1024);
    let length = Duration::from_secs(seconds);
    if !cfg!(feature = "snmalloc") {
        missing.push("snmalloc: built without its feature (needs cmake and a C++ compiler)".into());
    }

    if !cfg!(feature = "mmtk") {
        missing.push("mmtk: built without its feature".into());
    }

    let mut cells = Vec::new();
    for bytes in objects::SIZES {
        for group in objects::GROUPS {
            let length = length * group.len() as u32;
            for cell in objects::cells(bytes, group, pages, megabytes << 20, length)? {
                eprintln!("{:4} s: {}", since.elapsed().as_secs(), report::line(&cell));
                cells.push(cell);
            }
        }
    }

    #[cfg(feature = "mmtk")]
    let mut fresh = Vec::new();
    #[cfg(feature = "mmtk")]
    for bytes in objects::SIZES {
        let pairs = if quick { statistics::FEW_PAIRS } else { 20 };
        for touched in [true, false] {
            fresh.push(fresh::measure(bytes, touched, pages, megabytes << 20, pairs)?);
        }
        eprintln!("{:4} s: {bytes} bytes, memory used for the first time", since.elapsed().as_secs());
    }

    let small =
        small::measure(if quick { statistics::FEW_PAIRS } else { 20 }, if quick { 2 << 20 } else { 8 << 20 });
    eprintln!("{:4} s: an arena for each request", since.elapsed().as_secs());

    let mut memory: BTreeMap<Contestant, Vec<Held>> = BTreeMap::new();
    for round in 1..=if quick { 1 } else { 5 } {
        for contestant in memory::contestants() {
            memory.entry(contestant).or_default().push(memory::in_a_process(contestant)?);
        }
        eprintln!("{:4} s: {} threads, round {round}", since.elapsed().as_secs(), memory::THREADS);
    }

    let bytes = if quick { 512 << 20 } else { 2 << 30 };
    let explicit = Policy::Explicit(PageSize::TwoMegabytes);
    let mut policies = Vec::new();
    match Policy::Transparent.available(bytes) {
        Ok(()) => policies.push(Policy::Transparent),
        Err(error) => missing.push(format!("fill on transparent huge pages: {error}")),
    }
    match fill::explicit_available(bytes) {
        Ok(()) => policies.push(explicit),
        Err(error) => missing.push(format!("fill on explicit 2 MB pages: {error}")),
    }
    let mut fills = Vec::new();
    for policy in policies {
        fills.push(fill::measure(bytes, policy, statistics::FEW_PAIRS, length)?);
        eprintln!("{:4} s: fill on {policy}", since.elapsed().as_secs());
    }

    let findings = Findings {
        quick,
        megabytes,
        peers_keep_memory: !arguments.as_shipped,
        pages: pages.to_string(),
        cpus: settings::cpus(),
        cells,
        #[cfg(feature = "mmtk")]
        fresh,
        small,
        memory,
        fills,
        missing,
    };
    let figures = reach::figures(&findings);
    report::show(&findings, &figures);
    keep("arena/results.json", &kept::results(&findings, &figures))?;
    println!("cargo xtask results target/terrace/arena takes these figures into docs/arena.md");
    keep(
        "bench-arena.json",
        &serde_json::json!({ "found": findings, "reach": figures, "intervals": report::intervals(&findings.cells) }),
    )
}

/// Writes figures to a file in `target/terrace`.
fn keep(name: &str, value: &serde_json::Value) -> Result<(), String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/terrace").join(name);
    let text = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    std::fs::create_dir_all(path.parent().unwrap_or(&path))
        .and_then(|()| std::fs::write(&path, text + "\n"))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    println!("figures: target/terrace/{name}");
    Ok(())
}
