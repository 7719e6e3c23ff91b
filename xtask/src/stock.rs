//! Whether buffers off is a stock JVM: stock, `start=off`, `levels=none` and on, in interleaved forks of fixed work.
//!
//! A B C D D C B A, over and over. The work of all forks is the same, and what is compared is work for each second of the
//! application threads' own CPU time. Forks differ by more than windows in one JVM do, so it takes many: until the intervals
//! are narrow enough, by the width alone, or the time is over.

use crate::build;
use crate::cells::Cells;
use crate::measure::{Case, one_of_each, precise, table_of};
use compare::Program;
use compare::fixed::{self, FixedRun};
use jvm::agent::{AgentOptions, Levels, Tlab};
use jvm::jdk::Collector;
use jvm::workload::{Parameters, Workload};
use jvm::{Error, Result};
use serde_json::{Value, json};
use statistics::Interval;
use statistics::trimmed::{standard_error, student};
use std::time::{Duration, Instant};

/// Options of `stock`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only this workload: alloc, churn or javac.
    #[arg(long, value_parser = workload)]
    workload: Option<Workload>,

    /// The collector: serial, parallel or g1.
    #[arg(long, value_parser = collector, default_value = "parallel")]
    gc: Collector,

    /// Only the JDKs of this feature number.
    #[arg(long)]
    jdk: Option<u32>,

    /// Threads of the workload.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    threads: u32,

    /// Seconds of work of a fork, by the speed of a first one.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    fork_seconds: u64,

    /// Half of the intervals' width that is wanted, in percent.
    #[arg(long, default_value_t = 2.0)]
    precision: f64,

    /// Minutes after which a row ends, with two rounds at least.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,

    /// Skip what is in target/terrace/stock.json already.
    #[arg(long)]
    resume: bool,
}

fn workload(text: &str) -> std::result::Result<Workload, Error> {
    let found = text.parse()?;
    match found {
        Workload::Alloc | Workload::Churn | Workload::Javac => Ok(found),
        _ => Err(Error::usage("the work of forks is fixed for alloc, churn and javac; name one of them")),
    }
}

fn collector(text: &str) -> std::result::Result<Collector, Error> {
    text.parse()
}

const SIDES: [&str; 4] = ["stock", "start=off", "levels=none", "on"];
/// Fewer rounds than these say nothing of their own scatter.
const FEWEST_ROUNDS: usize = 4;
const LIMIT: Duration = Duration::from_secs(300);

fn agent(side: usize) -> Option<AgentOptions> {
    match side {
        0 => None,
        1 => Some(AgentOptions { start_on: false, ..AgentOptions::default() }),
        2 => Some(AgentOptions { levels: Some(Levels::None), ..AgentOptions::default() }),
        _ => Some(AgentOptions::default()),
    }
}

fn warmup(workload: Workload) -> u64 {
    if workload == Workload::Javac { 8 } else { 1 }
}

fn one(case: &Case, side: usize, amount: Parameters) -> Result<FixedRun> {
    let mut flags = case.jdk.select(case.collector.unwrap_or(Collector::Parallel))?;
    flags.extend(case.flags.iter().map(|flag| (*flag).to_owned()));
    let warmup = Some(warmup(case.workload));
    let parameters = Parameters { threads: case.threads, warmup, ..amount };
    let program = Program::Workload(case.workload, parameters, case.jdk.clone());
    fixed::run(&program, agent(side).as_ref(), &flags, &build::installed(), LIMIT)
}

/// The ratio of a side to stock, from the logarithms of rounds.
fn interval(logarithms: &[f64]) -> Interval {
    let count = logarithms.len() as f64;
    let mean = logarithms.iter().sum::<f64>() / count;
    let influence: Vec<f64> = logarithms.iter().map(|value| (value - mean) / count).collect();
    let half = student(logarithms.len().saturating_sub(1)) * standard_error(&influence);
    Interval { median: mean.exp(), low: (mean - half).exp(), high: (mean + half).exp() }
}

fn half(interval: &Interval) -> f64 {
    (interval.high / interval.low).ln() / 2.0
}

fn measure(case: &Case, arguments: &Arguments) -> Result<Value> {
    let since = Instant::now();
    let seconds = Some(arguments.fork_seconds);
    let first = one(case, 0, Parameters { seconds, ..Parameters::default() })?.report;
    let work = (first.operations / first.seconds * arguments.fork_seconds as f64).max(1.0) as u64;
    let mut rounds: [Vec<f64>; 4] = Default::default();
    let mut wall: [Vec<f64>; 4] = Default::default();
    loop {
        let mut sums = [[0.0; 4]; 2];
        for side in [0, 1, 2, 3, 3, 2, 1, 0] {
            let run = one(case, side, Parameters { work: Some(work), ..Parameters::default() })?;
            let rate = run.per_application_second.ok_or_else(|| {
                Error::failed("a fork was too short to be measured; give more --fork-seconds")
            })?;
            sums[0][side] += rate.ln() / 2.0;
            sums[1][side] += (run.report.operations / run.report.seconds).ln() / 2.0;
        }
        for side in 0..4 {
            rounds[side].push(sums[0][side] - sums[0][0]);
            wall[side].push(sums[1][side] - sums[1][0]);
        }
        let widest = rounds[1..].iter().map(|values| half(&interval(values))).fold(0.0, f64::max);
        let done = rounds[0].len();
        if done < 2 {
            continue;
        }
        eprintln!("  round {done}: within {:.1} %", 100.0 * widest);
        let precise_enough = done >= FEWEST_ROUNDS && widest <= arguments.precision / 100.0;
        if precise_enough || since.elapsed().as_secs_f64() > 60.0 * arguments.minutes {
            break;
        }
    }
    let of = |all: &[Vec<f64>; 4]| -> Vec<Value> {
        (1..4)
            .map(|side| {
                let found = interval(&all[side]);
                json!({ "side": SIDES[side], "median": found.median, "low": found.low, "high": found.high })
            })
            .collect()
    };
    Ok(
        json!({ "work": work, "rounds": rounds[0].len(), "per_application_second": of(&rounds), "per_second": of(&wall) }),
    )
}

/// Measures and shows.
pub fn run(arguments: &Arguments) -> Result<()> {
    build::all()?;
    let jdks = one_of_each();
    let wanted = |feature: u32| arguments.jdk.map_or(feature != 21, |only| only == feature);
    let mut cases = Vec::new();
    for jdk in jdks.into_iter().filter(|jdk| wanted(jdk.feature)) {
        for (workload, flags) in [
            (Workload::Alloc, vec!["-Xms1g", "-Xmx1g", "-Xmn512m"]),
            (Workload::Churn, vec!["-Xms512m", "-Xmx512m", "-Xmn256m"]),
            (Workload::Javac, vec!["-Xms3g", "-Xmx3g", "-Xmn1g"]),
        ] {
            if arguments.workload.is_some_and(|only| only != workload) {
                continue;
            }
            if workload == Workload::Javac && !jdk.has_compiler {
                eprintln!("skipped: javac on {}: it has no compiler", jdk.describe());
                continue;
            }
            cases.push(Case {
                workload,
                threads: Some(arguments.threads),
                lengths: None,
                jdk: jdk.clone(),
                collector: Some(arguments.gc),
                flags,
                tlab: Tlab::Auto,
            });
        }
    }
    if cases.is_empty() {
        return Err(Error::usage("no JDK found is what --jdk asks for; leave it out"));
    }
    let mut cells = Cells::open("stock", cases.len(), arguments.resume)?;
    let names: Vec<String> = cases.iter().map(Case::name).collect();
    for (case, name) in cases.iter().zip(&names) {
        cells.measure(name, || measure(case, arguments))?;
    }
    let mut rows = table_of(&["side / stock, per CPU-second", "start=off", "levels=none", "on", "rounds"]);
    for cell in cells.of(names.iter().map(String::as_str)) {
        let text = |side: usize| {
            let found = serde_json::from_value(cell["per_application_second"][side].clone());
            found.map_or("unavailable".into(), |found: Interval| precise(&found))
        };
        let name = cell["name"].as_str().unwrap_or_default().to_owned();
        rows.add_row([name, text(0), text(1), text(2), cell["rounds"].to_string()]);
    }
    println!("{rows}");
    println!(
        "whole JVMs in turn, A B C D D C B A, the same work in each; CPU time of the application's own threads; 95 % intervals"
    );
    cells.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        // By hand: mean 0, squares 0.0004, so s = sqrt(0.0004 / 4) = 0.01; t(4) = 2.776.
        let found = interval(&[-0.01, 0.01, 0.0, -0.01, 0.01]);
        assert!((found.median - 1.0).abs() < 1e-12);
        assert!((half(&found) - 2.776 * 0.01 / 5.0_f64.sqrt()).abs() < 1e-5, "{}", half(&found));
    }

    #[test]
    fn sides_are_what_their_names_say() {
        assert!(agent(0).is_none());
        assert!(!agent(1).unwrap().start_on && agent(1).unwrap().levels() == Levels::Core);
        assert_eq!(agent(2).unwrap().levels(), Levels::None);
        assert_eq!(agent(3).unwrap(), AgentOptions::default());
    }
}
