//! How far the buffers are from the best that any hierarchy can do.

use crate::build;
use crate::measure::{Case, json, keep, shown, supported_jdks, table_of};
use control::Mode;
use jvm::Result;
use jvm::jdk::Collector;
use serde_json::json;
use std::time::Duration;

/// Options of `bound`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Seconds measured for each cell.
    #[arg(long, default_value_t = 8)]
    seconds: u64,
}

/// Core buffers against a private buffer for each thread, which nobody shares.
pub fn run(arguments: &Arguments) -> Result<()> {
    build::all()?;
    let mut rows = table_of(&["alloc byte[16], core buffers / private buffers", "TLAB 1k", "4k"]);
    let mut cells = Vec::new();
    for jdk in supported_jdks().into_iter().filter(|jdk| jdk.feature != 21) {
        for collector in [Collector::Serial, Collector::Parallel, Collector::G1] {
            for threads in [2, 16] {
                let mut row = vec![format!("{} {}, {threads} threads", collector.name(), jdk.feature)];
                for tlab in [1 << 10, 4 << 10] {
                    let case = Case::alloc(&jdk, collector, threads, tlab);
                    let outcome =
                        case.in_process(Mode::Bound, 3, arguments.seconds, Duration::from_millis(100))?;
                    eprintln!("{}, TLAB {}k: {}", case.name(), tlab >> 10, shown(&outcome.ratio));
                    row.push(shown(&outcome.ratio));
                    cells.push(json!({ "name": case.name(), "tlab": tlab, "outcome": json(&outcome)? }));
                }
                rows.add_row(row);
            }
        }
    }
    println!("{rows}");
    println!("1 would be as fast as if nothing were shared at all");
    keep("bound", &json!(cells))
}
