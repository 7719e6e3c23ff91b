//! How a JVM comes to the end of its memory: full collections and time before the error, terrace's defaults against stock.

use crate::files::{text, write};
use crate::maven::compile;
use crate::places::installed;
use crate::shell::root;
use crate::{build, jdks};
use jvm::jdk::{Collector, Jdk};
use jvm::os::Exit;
use jvm::{Error, Result};
use present::numbers::{self, plain, three};
use present::table::{Table, columns};
use serde_json::json;
use statistics::Interval;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Options of `exhaust`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Pairs of runs per row.
    #[arg(long, default_value_t = 9)]
    pairs: usize,

    /// Only this collector: serial, parallel, g1 or shenandoah.
    #[arg(long, value_parser = collector)]
    gc: Option<Collector>,

    /// Only JDKs of this feature version.
    #[arg(long)]
    jdk: Option<u32>,

    /// The heap of each JVM. With Parallel the count of full collections rises and falls with it: compare several.
    #[arg(long, default_value = HEAP, value_parser = jvm::size::parse)]
    heap: u64,
}

fn collector(text: &str) -> std::result::Result<Collector, Error> {
    text.parse()
}

/// The heap, unless another is asked for: small enough to be full soon, large enough for G1's regions and Shenandoah's.
const HEAP: &str = "48m";
/// What is too much against stock.
const LIMIT: f64 = 1.2;
/// References in an element of the list: large elements, and the smallest.
const WORDS: [u32; 2] = [60, 2];

/// One run: full collections, CPU seconds of the whole JVM.
fn once(jdk: &Jdk, flags: &[String], agent: Option<&str>, classes: &Path, words: u32) -> Result<(f64, f64)> {
    let log = classes.join("gc.log");
    let mut command = Command::new(jdk.java());
    command.args(agent).args(flags).arg(format!("-Xlog:gc:file={}", log.display()));
    command.arg("-cp").arg(classes).arg("Exhaust").arg(words.to_string()).stdout(Stdio::null());
    let exit = to_its_end(jdk, &mut command)?;
    let text = text(&log)?;
    Ok((text.matches("Pause Full").count() as f64, exit.cpu.as_secs_f64()))
}

/// Runs a JVM to its end; what the system has accounted. An exit code other than 0 is an error.
fn to_its_end(jdk: &Jdk, command: &mut Command) -> Result<Exit> {
    let child = command.spawn().map_err(|error| Error::failed(format!("{}: {error}", jdk.describe())))?;
    loop {
        match jvm::os::reap(child.id()).map_err(|error| Error::failed(format!("wait for java: {error}")))? {
            Some(exit) if exit.code == Some(0) => return Ok(exit),
            Some(_) => return Err(Error::failed("java failed; see its output above")),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Ours over stock's.
fn ratio(ours: &[f64], stock: &[f64]) -> Result<Interval> {
    statistics::ratio_of_medians(stock, ours, 1).ok_or_else(|| Error::failed("a JVM took no measurable time"))
}

fn median(values: &[f64]) -> f64 {
    statistics::median(values).unwrap_or(0.0)
}

/// Measures in pairs A B B A and shows the medians.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.pairs == 0 {
        return Err(Error::usage("--pairs must be 1 or more"));
    }
    build::all()?;
    let classes = root().join("target/terrace/exhaust");
    compile("xtask/src/exhaust/Exhaust.java", &classes)?;
    let agent = format!("-agentpath:{}", installed().agent()?.display());
    let mut rows = Table::new(["terrace : stock", "full collections", "ratio", "CPU seconds", "ratio"]);
    let (mut cells, mut losses, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let collectors = [Collector::Serial, Collector::Parallel, Collector::G1, Collector::Shenandoah];
    let heap = format!("-Xmx{}", arguments.heap);
    jdks::install()?;
    let mut jdks = jdks::measured();
    jdks.retain(|jdk| arguments.jdk.is_none_or(|only| only == jdk.feature));
    if jdks.is_empty() {
        return Err(Error::usage(
            "this JDK is not found, or not measured: choose --jdk 17, 21 or 25 (21: cargo xtask jdks)",
        ));
    }
    for jdk in &jdks {
        for collector in collectors.into_iter().filter(|gc| arguments.gc.is_none_or(|only| only == *gc)) {
            let Ok(mut flags) = jdk.select(collector) else {
                eprintln!("skipped: {} on {}: not in this build", collector.name(), jdk.describe());
                continue;
            };
            flags.push(heap.clone());
            for words in WORDS {
                let name = format!("{} {}, {words} words", collector.name(), jdk.feature);
                let mut sides = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
                for pair in 0..arguments.pairs {
                    for side in if pair % 2 == 0 { [0, 1] } else { [1, 0] } {
                        let option = (side == 0).then_some(agent.as_str());
                        let (full, cpu) = once(jdk, &flags, option, &classes, words)?;
                        sides[side].0.push(full);
                        sides[side].1.push(cpu);
                    }
                }
                let [ours, stock] = &sides;
                // Of one full collection and none, the ratio is of one and one.
                let whole = |full: &[f64]| full.iter().map(|full| full.max(1.0)).collect::<Vec<_>>();
                let ratios = [ratio(&whole(&ours.0), &whole(&stock.0))?, ratio(&ours.1, &stock.1)?];
                let [ours, stock] = [ours, stock].map(|(full, cpu)| (median(full), median(cpu)));
                let row = [
                    name.clone(),
                    format!("{} : {}", plain(ours.0), plain(stock.0)),
                    numbers::ratio(&ratios[0]),
                    format!("{} : {}", three(ours.1), three(stock.1)),
                    numbers::ratio(&ratios[1]),
                ];
                eprintln!("{}", row.join("  "));
                if ratios.iter().any(|ratio| ratio.low > LIMIT) {
                    losses.push(name.clone());
                } else if ratios.iter().any(|ratio| ratio.high > LIMIT) {
                    open.push(name.clone());
                }
                rows.push(row);
                cells.push(json!({ "name": name, "pairs": arguments.pairs,
                    "full_collections": [ours.0, stock.0], "cpu_seconds": [ours.1, stock.1],
                    "ratios": ratios.map(|ratio| [ratio.median, ratio.low, ratio.high]) }));
            }
        }
    }
    print!("{}", rows.text(columns()));
    println!(
        "medians of {} runs each, one growing list, {heap}; ratios with 95 % intervals",
        arguments.pairs
    );
    let list = |names: &[String]| if names.is_empty() { "none".into() } else { names.join("; ") };
    println!("rows above {LIMIT}: {}", list(&losses));
    println!("rows whose interval includes {LIMIT} (use more --pairs): {}", list(&open));
    write(root().join("target/terrace/exhaust.json"), format!("{:#}\n", json!(cells)))?;
    println!("all figures: target/terrace/exhaust.json");
    Ok(())
}
