//! The matrix: every collector, JDK, TLAB size and number of threads. With `--defaults`: see [`defaults`].

mod defaults;

use crate::build;
use crate::measure::{Case, json, keep, shown, supported_jdks, table_of};
use control::Mode;
use jvm::Result;
use jvm::jdk::Collector;
use jvm::workload::Workload;
use serde_json::json;
use std::time::Duration;

/// Options of `matrix`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Terrace's defaults instead of fixed TLABs: alloc, sizes, churn, threads and javac, on against off in one JVM, each cell
    /// until its intervals are within --precision.
    #[arg(long)]
    defaults: bool,

    /// Seconds measured for each cell [default: 8; with --defaults at most 45].
    #[arg(long, value_parser = clap::value_parser!(u64).range(2..))]
    seconds: Option<u64>,

    /// Half of an interval's width at which a cell ends, in percent [default: 1.5].
    #[arg(long, requires = "defaults", value_parser = percent)]
    precision: Option<f64>,

    /// Off against off: what measuring adds by itself.
    #[arg(long, requires = "defaults")]
    control: bool,

    /// Skip the cells that are in target/terrace/matrix-defaults.json already.
    #[arg(long, requires = "defaults")]
    resume: bool,

    /// Only this workload: alloc, sizes, churn, threads or javac.
    #[arg(long, requires = "defaults", value_parser = workload)]
    workload: Option<Workload>,

    /// Only this number of threads: 2, 16, 64 or 256, of javac 2, 8 or 16.
    #[arg(long, requires = "defaults")]
    threads: Option<u32>,

    /// Only this young generation: 16m, 64m or own (the JVM's choice).
    #[arg(long, requires = "defaults", value_parser = ["16m", "64m", "own"])]
    young: Option<String>,

    /// Only this collector: serial, parallel or g1.
    #[arg(long, value_parser = collector)]
    gc: Option<Collector>,

    /// Only the JDKs of this feature number.
    #[arg(long)]
    jdk: Option<u32>,
}

fn workload(text: &str) -> std::result::Result<Workload, jvm::Error> {
    text.parse()
}

fn percent(text: &str) -> std::result::Result<f64, jvm::Error> {
    let number =
        text.trim_end_matches('%').parse::<f64>().ok().filter(|number| (0.05..=50.0).contains(number));
    number
        .map(|number| number / 100.0)
        .ok_or_else(|| jvm::Error::usage("write percent from 0.05 to 50, such as 1.5"))
}

fn collector(text: &str) -> std::result::Result<Collector, jvm::Error> {
    text.parse()
}

const TLABS: [u64; 5] = [1 << 10, 2 << 10, 4 << 10, 16 << 10, 64 << 10];
const THREADS: [u32; 2] = [2, 16];
/// A cell whose whole interval lies below this is a loss.
const LOSS: f64 = 0.99;

/// Measures and shows.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.defaults {
        return defaults::run(arguments);
    }
    build::all()?;
    let collectors = [Collector::Serial, Collector::Parallel, Collector::G1];
    let jdks: Vec<_> = supported_jdks()
        .into_iter()
        .filter(|jdk| arguments.jdk.map_or(jdk.feature != 21, |feature| jdk.feature == feature))
        .collect();
    let mut rows = table_of(&["alloc byte[16]", "TLAB 1k", "2k", "4k", "16k", "64k"]);
    let (mut cells, mut losses) = (Vec::new(), Vec::new());
    for collector in collectors.into_iter().filter(|gc| arguments.gc.is_none_or(|only| only == *gc)) {
        for jdk in &jdks {
            for threads in THREADS {
                let mut row = vec![format!("{} {}, {threads} threads", collector.name(), jdk.feature)];
                for tlab in TLABS {
                    let case = Case::alloc(jdk, collector, threads, tlab);
                    let outcome = case.in_process(
                        Mode::Off,
                        3,
                        arguments.seconds.unwrap_or(8),
                        Duration::from_millis(100),
                    )?;
                    row.push(shown(&outcome.ratio));
                    let name = format!("{}, TLAB {}k", case.name(), tlab >> 10);
                    if outcome.ratio.high < LOSS {
                        losses.push(format!("{name}: {}", shown(&outcome.ratio)));
                    }
                    eprintln!("{name}: {}", shown(&outcome.ratio));
                    cells.push(json!({ "name": name, "outcome": json(&outcome)? }));
                }
                rows.add_row(row);
            }
        }
    }
    println!("{rows}");
    println!(
        "buffers on / off in one JVM, windows of 100 ms in random order: trimmed mean over pairs [95 % interval]"
    );
    println!(
        "cells whose interval lies entirely below {LOSS}: {}",
        if losses.is_empty() { "none".into() } else { losses.join("; ") }
    );
    keep("matrix", &json!(cells))
}
