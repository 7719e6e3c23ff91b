//! The README's first command.

use crate::build;
use crate::measure::{Case, json, keep, shown, supported_jdks, table_of};
use compare::result::ComparisonResult;
use control::Mode;
use jvm::agent::Tlab;
use jvm::jdk::{Collector, Jdk};
use jvm::workload::Workload;
use jvm::{Error, Result};
use present::numbers::count;
use serde_json::json;
use std::time::{Duration, Instant};

/// Options of `demo`.
#[derive(clap::Args)]
pub struct Arguments {
    /// On all JDKs found, not only the newest.
    #[arg(long)]
    all_jdks: bool,
}

const CPUS: u32 = 2;

/// Builds, measures, shows.
pub fn run(arguments: &Arguments) -> Result<()> {
    build::all()?;
    let since = Instant::now();
    let mut jdks: Vec<Jdk> = supported_jdks();
    jdks.sort_by_key(|jdk| std::cmp::Reverse(jdk.feature));
    if jdks.is_empty() {
        return Err(Error::failed("no JDK 17, 21 or 25 found; install one, or set JAVA_HOME"));
    }
    if !arguments.all_jdks {
        jdks.truncate(1);
    }
    let mut rows =
        table_of(&["program", "a / b", "a", "a/b per second", "per CPU-second", "collections a : b"]);
    let mut results = Vec::new();
    for jdk in &jdks {
        for outcome in one_jdk(jdk)? {
            let (name, outcome) = outcome;
            rows.add_row(row(&name, &outcome));
            results.push(json!({ "name": name, "outcome": json(&outcome)? }));
        }
    }
    println!("{rows}");
    println!(
        "a/b above 1: a is faster. In brackets: 95 % interval; it includes 1: no significant difference."
    );
    println!("{}", summary(&results));
    println!("measured in {} s", since.elapsed().as_secs());
    keep("demo", &json!(results))
}

fn one_jdk(jdk: &Jdk) -> Result<Vec<(String, ComparisonResult)>> {
    let mut outcomes = Vec::new();
    let case = |workload, threads, collector, flags, tlab| Case {
        workload,
        threads,
        lengths: None,
        jdk: jdk.clone(),
        collector,
        flags,
        tlab,
    };
    if jdk.has_compiler {
        // What everyday programs see comes first.
        for (tlab, name) in [(Tlab::Auto, "defaults"), (Tlab::Bytes(4 << 10), "TLAB 4k")] {
            let javac = case(Workload::Javac, Some(CPUS), Some(Collector::Parallel), vec!["-Xmx2g"], tlab);
            let outcome = javac.in_process(Mode::Off, 10, 30, Duration::from_millis(300))?;
            outcomes.push((format!("{}, {name}", javac.name()), outcome));
        }
    } else {
        eprintln!("skipped: javac on {}: it has no compiler", jdk.describe());
    }
    for collector in [Collector::Parallel, Collector::G1] {
        let alloc = Case::alloc(jdk, collector, CPUS, 1 << 10);
        let outcome = alloc.in_process(Mode::Off, 3, 12, Duration::from_millis(100))?;
        outcomes.push((format!("{}, TLAB 1k", alloc.name()), outcome));
    }
    // With what a user would try first beside it.
    for (flags, name) in [(vec!["-Xmx512m", "-XX:TLABSize=4k"], ", -XX:TLABSize=4k"), (vec!["-Xmx512m"], "")]
    {
        let churn = case(Workload::Churn, None, Some(Collector::Parallel), flags, Tlab::Auto);
        outcomes.push((format!("{}{name}", churn.name()), churn.in_forks(1, 4, 6)?));
    }
    Ok(outcomes)
}

fn row(name: &str, outcome: &ComparisonResult) -> Vec<String> {
    let unit = match outcome.unit.as_str() {
        "bytes/s" => "B/s",
        _ => "/s",
    };
    let collections = match (outcome.sides.a.collections, outcome.sides.b.collections) {
        (Some(a), Some(b)) => format!("{a} : {b}"),
        _ => "unavailable".into(),
    };
    vec![
        name.to_owned(),
        if outcome.mode == "forks" { "terrace / stock" } else { "buffers on / off" }.to_owned(),
        format!("{}{unit}", count(outcome.sides.a.throughput.median)),
        shown(&outcome.ratio),
        outcome.ratio_cpu.as_ref().map_or("unavailable".into(), shown),
        collections,
    ]
}

/// One sentence for the last comparison, where numbers need words most.
fn summary(results: &[serde_json::Value]) -> String {
    let Some(last) = results.last() else { return String::new() };
    let ratio = last["outcome"]["collections_ratio"].as_f64();
    match ratio {
        Some(ratio) if ratio > 0.0 => format!(
            "A new thread for each task: terrace collects {:.0} times less often for the same number of tasks.",
            1.0 / ratio
        ),
        _ => String::new(),
    }
}
