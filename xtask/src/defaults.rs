//! Terrace's defaults against a stock JVM.

use crate::build;
use crate::measure::{Case, json, keep, shown, supported_jdks, table_of};
use lab::Result;
use lab::jvm::agent::Tlab;
use lab::jvm::jdk::Collector;
use lab::jvm::workload::Workload;
use serde_json::json;

/// Options of `defaults`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Pairs of forks for each row.
    #[arg(long, default_value_t = 6)]
    pairs: u64,

    /// Only the JDKs of this feature number.
    #[arg(long)]
    jdk: Option<u32>,

    /// Only this workload: javac, churn or threads.
    #[arg(long, value_parser = workload)]
    workload: Option<Workload>,
}

fn workload(text: &str) -> std::result::Result<Workload, lab::Error> {
    text.parse()
}

/// Measures and shows.
pub fn run(arguments: &Arguments) -> Result<()> {
    build::all()?;
    let mut rows =
        table_of(&["terrace / stock", "per second", "per CPU-second", "collections per operation"]);
    let mut cells = Vec::new();
    let jdks = supported_jdks();
    let wanted = |feature: u32| arguments.jdk.map_or(feature != 21, |only| only == feature);
    for jdk in jdks.into_iter().filter(|jdk| wanted(jdk.feature)) {
        for (workload, threads, flags, warmup, fork) in [
            (Workload::Javac, Some(8), vec!["-Xmx2g"], 12, 8),
            (Workload::Churn, None, vec!["-Xmx512m"], 1, 4),
            // A fixed young generation: G1 otherwise chooses its size from fork to fork, which moves the number of collections by
            // more than the memory that threads hold.
            (Workload::Threads, None, vec!["-Xmx512m", "-Xmn256m"], 2, 4),
        ] {
            if arguments.workload.is_some_and(|only| only != workload) {
                continue;
            }
            if workload == Workload::Javac && !jdk.has_compiler {
                eprintln!("skipped: javac on {}: it has no compiler", jdk.describe());
                continue;
            }
            // Stock defaults choose the collector, too; the short workloads are cheap enough for a second one.
            let second = (workload != Workload::Javac).then_some(Some(Collector::Parallel));
            for collector in std::iter::once(None).chain(second) {
                let case = Case {
                    workload,
                    threads,
                    jdk: jdk.clone(),
                    collector,
                    flags: flags.clone(),
                    tlab: Tlab::Auto,
                };
                let outcome = case.in_forks(warmup, fork, arguments.pairs)?;
                let row = [
                    case.name(),
                    shown(&outcome.ratio),
                    outcome.ratio_cpu.as_ref().map_or("unavailable".into(), shown),
                    outcome.collections_ratio.map_or("unavailable".into(), |ratio| format!("{ratio:.3}")),
                ];
                eprintln!("{}", row.join("  "));
                rows.add_row(row);
                cells.push(json!({ "name": case.name(), "outcome": json(&outcome)? }));
            }
        }
    }
    println!("{rows}");
    keep("defaults", &json!(cells))
}
