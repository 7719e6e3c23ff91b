//! Terrace's defaults inside one JVM, buffers on against off. With `tlab=auto` HotSpot's flags stay as they are, so that buffers
//! off is a stock JVM (`cargo xtask stock` shows that it is), and nothing has to be compared across processes.

use crate::build;
use crate::cells::Cells;
use crate::matrix::{Arguments, LOSS};
use crate::measure::{Case, json, one_of_each, precise, table_of};
use compare::estimate::half_width;
use compare::stopping::Precision;
use control::Mode;
use jvm::agent::Tlab;
use jvm::jdk::{Collector, Jdk};
use jvm::workload::{Lengths, Workload};
use jvm::{Error, Result};
use serde_json::Value;
use statistics::Interval;

const COLLECTORS: [Collector; 3] = [Collector::Serial, Collector::Parallel, Collector::G1];
const THREADS: [u32; 4] = [2, 16, 64, 256];
/// A compiler for each of more threads than these would measure the heap.
const JAVAC_THREADS: [u32; 3] = [2, 8, 16];
/// A cell's time at most, unless told otherwise.
const MOST_SECONDS: u64 = 45;

/// The young generation: named size, and flags.
fn young(workload: Workload) -> &'static [(&'static str, &'static [&'static str])] {
    match workload {
        // The sources' trees have to fit, of 16 compilers at a time.
        Workload::Javac => &[("64m", &["-Xms3g", "-Xmx3g", "-Xmn64m"]), ("own", &[])],
        _ => &[
            ("16m", &["-Xms512m", "-Xmx512m", "-Xmn16m"]),
            ("64m", &["-Xms512m", "-Xmx512m", "-Xmn64m"]),
            ("own", &[]),
        ],
    }
}

fn warmup(workload: Workload) -> u64 {
    if workload == Workload::Javac { 15 } else { 3 }
}

/// A cell and the young generation's name.
struct Cell {
    case: Case,
    young: &'static str,
}

impl Cell {
    fn name(&self, control: bool) -> String {
        let control = if control { ", control" } else { "" };
        format!("{}, young {}{control}", self.case.name(), self.young)
    }
}

fn cells(arguments: &Arguments, jdks: &[Jdk]) -> Vec<Cell> {
    let mut cells = Vec::new();
    let wanted = |given: &Option<String>, value: &str| given.as_deref().is_none_or(|only| only == value);
    for workload in [Workload::Alloc, Workload::Sizes, Workload::Churn, Workload::Threads, Workload::Javac] {
        if arguments.workload.is_some_and(|only| only != workload) {
            continue;
        }
        let threads: &[u32] = if workload == Workload::Javac { &JAVAC_THREADS } else { &THREADS };
        for collector in COLLECTORS.into_iter().filter(|gc| arguments.gc.is_none_or(|only| only == *gc)) {
            for jdk in jdks {
                if workload == Workload::Javac && !jdk.has_compiler {
                    eprintln!("skipped: javac on {}: it has no compiler", jdk.describe());
                    continue;
                }
                for threads in
                    threads.iter().filter(|threads| arguments.threads.is_none_or(|only| only == **threads))
                {
                    for (young, flags) in
                        young(workload).iter().filter(|(name, _)| wanted(&arguments.young, name))
                    {
                        let case = Case {
                            workload,
                            threads: Some(*threads),
                            lengths: (workload == Workload::Sizes)
                                .then(|| Lengths::Mixture("16..200k".into())),
                            jdk: jdk.clone(),
                            collector: Some(collector),
                            flags: flags.to_vec(),
                            tlab: Tlab::Auto,
                        };
                        cells.push(Cell { case, young });
                    }
                }
            }
        }
    }
    cells
}

/// Measures and shows.
pub fn run(arguments: &Arguments) -> Result<()> {
    build::all()?;
    let jdks: Vec<Jdk> = one_of_each()
        .into_iter()
        .filter(|jdk| arguments.jdk.map_or(jdk.feature != 21, |feature| jdk.feature == feature))
        .collect();
    let cells = cells(arguments, &jdks);
    if cells.is_empty() {
        return Err(Error::usage(
            "no cell is what --workload, --gc, --jdk, --threads and --young ask for together; threads are 2, 16, 64, 256 (javac: \
             2, 8, 16), young generations 16m, 64m, own (javac: 64m, own)",
        ));
    }
    let precision = Precision(arguments.precision.unwrap_or(0.015));
    let seconds = arguments.seconds.unwrap_or(MOST_SECONDS);
    let modes = if arguments.control { [Mode::Off, Mode::Off] } else { [Mode::On, Mode::Off] };
    let file = if arguments.control { "matrix-control" } else { "matrix-defaults" };
    let mut kept = Cells::open(file, cells.len(), arguments.resume)?;
    for cell in &cells {
        kept.measure(&cell.name(arguments.control), || {
            let outcome = cell.case.until_precise(modes, warmup(cell.case.workload), seconds, precision)?;
            if let Some(estimate) = &outcome.estimate {
                let cpu = estimate.per_application_second.as_ref().map_or("unavailable".into(), precise);
                eprintln!(
                    "  per second {}, per CPU-second {cpu}, {} pairs",
                    precise(&estimate.per_second),
                    estimate.pairs
                );
            }
            Ok(serde_json::json!({ "outcome": json(&outcome)? }))
        })?;
    }
    let names: Vec<String> = cells.iter().map(|cell| cell.name(arguments.control)).collect();
    show(&kept.of(names.iter().map(String::as_str)), precision, arguments.control);
    kept.finish()
}

fn interval(cell: &Value, name: &str) -> Option<Interval> {
    serde_json::from_value(cell["outcome"]["estimate"][name].clone()).ok()
}

fn show(cells: &[&Value], Precision(precision): Precision, control: bool) {
    let sides = if control { "off / off" } else { "on / off" };
    let mut rows = table_of(&[sides, "per second", "per CPU-second", "heap", "pairs"]);
    let name = |cell: &Value| cell["name"].as_str().unwrap_or_default().to_owned();
    for cell in cells {
        let text = |name: &str| interval(cell, name).as_ref().map_or("unavailable".into(), precise);
        rows.add_row([
            name(cell),
            text("per_second"),
            text("per_application_second"),
            interval(cell, "heap_use").map_or("-".into(), |used| format!("{:.3}", used.median)),
            cell["outcome"]["pairs"].to_string(),
        ]);
    }
    println!("{rows}");
    println!(
        "95 % intervals; pauses are charged evenly, by the heap used up for the same work (column heap); CPU time is that of the \
         application's own threads"
    );
    let ratios = ["per_second", "per_application_second"];
    let list = |found: Vec<String>| if found.is_empty() { "none".into() } else { found.join("; ") };
    let which = |fields: &[&str], test: &dyn Fn(&Interval) -> bool| {
        let found = cells.iter().flat_map(|cell| {
            fields.iter().filter_map(|field| {
                let found = interval(cell, field).filter(test)?;
                Some(format!("{} ({}): {}", name(cell), field.replace('_', " "), precise(&found)))
            })
        });
        found.collect::<Vec<String>>()
    };
    if control {
        let outside = which(&ratios, &|found| found.low > 1.0 || found.high < 1.0);
        println!(
            "intervals that do not hold 1, of {} (1 in 20 is expected): {}",
            2 * cells.len(),
            list(outside)
        );
    } else {
        let losses = which(&ratios, &|found| found.high < LOSS);
        println!("cells whose interval lies entirely below {LOSS}: {}", list(losses));
        let rare = which(&["all_windows"], &|found| found.high < LOSS);
        println!("the same of all work in all time, nothing trimmed: {}", list(rare));
    }
    let wide = which(&ratios, &|found| half_width(found) > precision);
    println!("intervals wider than {:.1} %: {} of {}", 200.0 * precision, wide.len(), 2 * cells.len());
}
