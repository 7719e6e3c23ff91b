//! The matrix: every collector, JDK, TLAB size and number of threads.

use crate::build;
use crate::measure::{Case, json, keep, shown, supported_jdks, table_of};
use control::Mode;
use lab::Result;
use lab::jvm::jdk::Collector;
use serde_json::json;
use std::time::Duration;

/// Options of `matrix`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Seconds measured for each cell.
    #[arg(long, default_value_t = 8)]
    seconds: u64,

    /// Only this collector: serial, parallel or g1.
    #[arg(long, value_parser = collector)]
    gc: Option<Collector>,

    /// Only the JDKs of this feature number.
    #[arg(long)]
    jdk: Option<u32>,
}

fn collector(text: &str) -> std::result::Result<Collector, lab::Error> {
    text.parse()
}

const TLABS: [u64; 5] = [1 << 10, 2 << 10, 4 << 10, 16 << 10, 64 << 10];
const THREADS: [u32; 2] = [2, 16];
/// A cell whose whole interval lies below this is a loss.
const LOSS: f64 = 0.99;

/// Measures and shows.
pub fn run(arguments: &Arguments) -> Result<()> {
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
                    let outcome =
                        case.in_process(Mode::Off, 3, arguments.seconds, Duration::from_millis(100))?;
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
        "buffers on / off in one JVM, windows of 100 ms in random order: median of pairs [bootstrap 95 % interval]"
    );
    println!(
        "cells whose interval lies entirely below {LOSS}: {}",
        if losses.is_empty() { "none".into() } else { losses.join("; ") }
    );
    keep("matrix", &json!(cells))
}
