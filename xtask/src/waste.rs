//! Collections for each allocated byte, terrace's defaults beside a stock JVM, for arrays of many sizes.
//!
//! A fixed number of bytes is allocated in either JVM. The work is the same to the byte, so that collections hardly differ
//! from run to run: each side runs once, or twice where they differ. Bytes for each collection are counted between the first
//! collection noticed and the last, not over the whole run, which would be uncertain by one collection at either end.

use crate::build;
use crate::cells::Cells;
use crate::measure::{one_of_each, table_of};
use compare::{Program, fixed};
use jvm::agent::AgentOptions;
use jvm::jdk::{Collector, Jdk};
use jvm::workload::{Lengths, Parameters, Workload};
use jvm::{Error, Result};
use serde_json::{Value, json};
use std::time::Duration;

/// Options of `waste`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only this collector: serial, parallel, g1 or shenandoah.
    #[arg(long, value_parser = collector)]
    gc: Option<Collector>,

    /// Only the JDKs of this feature number.
    #[arg(long)]
    jdk: Option<u32>,

    /// Only this young generation (Shenandoah: heap): 64m or 600m.
    #[arg(long, value_parser = ["64m", "600m"])]
    young: Option<String>,

    /// Only these sizes: 1k to 200k as in the table, alternating, or mixture; may be repeated.
    #[arg(long)]
    size: Vec<String>,

    /// Threads that allocate.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    threads: u32,

    /// Collections for which bytes are allocated; with -Xmn64m five times as many.
    #[arg(long, default_value_t = 22, value_parser = clap::value_parser!(u64).range(6..))]
    collections: u64,

    /// Skip what is in target/terrace/waste.json already.
    #[arg(long)]
    resume: bool,
}

fn collector(text: &str) -> std::result::Result<Collector, Error> {
    text.parse()
}

const COLLECTORS: [Collector; 4] =
    [Collector::Serial, Collector::Parallel, Collector::G1, Collector::Shenandoah];
const YOUNG: [(&str, u64); 2] = [("64m", 64 << 20), ("600m", 600 << 20)];
const SIZES: [u64; 9] = [1, 4, 8, 20, 30, 60, 100, 130, 200];
/// Terrace may need so many times as many collections as stock.
const MOST: f64 = 1.01;
/// From this difference on a cell is measured a second time.
const DIFFERENT: f64 = 0.005;
const LIMIT: Duration = Duration::from_secs(300);

fn shapes() -> Vec<(String, Parameters)> {
    let one = |kilobytes: &u64| {
        (format!("{kilobytes}k"), Parameters { size: Some(kilobytes << 10), ..Parameters::default() })
    };
    let other = |name: &str, lengths| {
        (name.to_owned(), Parameters { lengths: Some(lengths), ..Parameters::default() })
    };
    SIZES
        .iter()
        .map(one)
        .chain([
            other("alternating", Lengths::List("100000,64x20".into())),
            other("mixture", Lengths::Mixture("16..200k".into())),
        ])
        .collect()
}

/// Flags for a young generation of a fixed size: whatever adapts itself would differ from run to run.
fn flags(collector: Collector, young: u64) -> Vec<String> {
    let size = jvm::size::format;
    let fixed: &[&str] = match collector {
        Collector::Parallel => &["-XX:-UseAdaptiveSizePolicy"],
        // It has no young generation: the whole heap is used up before it collects, as eden is.
        Collector::Shenandoah => &["-XX:+UnlockDiagnosticVMOptions", "-XX:ShenandoahGCMode=passive"],
        _ => &[],
    };
    let mut flags: Vec<String> = fixed.iter().map(|flag| (*flag).to_owned()).collect();
    if collector == Collector::Shenandoah {
        flags.extend([format!("-Xms{}", size(young)), format!("-Xmx{}", size(young))]);
    } else {
        let heap = size(young + (400 << 20));
        flags.extend([format!("-Xms{heap}"), format!("-Xmx{heap}"), format!("-Xmn{}", size(young))]);
    }
    flags
}

struct Case<'a> {
    name: String,
    shape: &'a str,
    parameters: Parameters,
    collector: Collector,
    jdk: &'a Jdk,
    young: (&'static str, u64),
}

impl Case<'_> {
    fn bytes_per_collection(&self, agent: Option<&AgentOptions>, collections: u64) -> Result<f64> {
        let collections = if self.young.0 == "64m" { 5 * collections } else { collections };
        let mut flags = self.jdk.select(self.collector)?;
        flags.extend(self::flags(self.collector, self.young.1));
        let work = Some(collections * self.young.1);
        let parameters = Parameters { work, warmup: Some(0), ..self.parameters.clone() };
        let program = Program::Workload(Workload::Sizes, parameters, self.jdk.clone());
        let run = fixed::run(&program, agent, &flags, &build::installed(), LIMIT)?;
        run.report
            .bytes_per_collection
            .filter(|bytes| *bytes > 0.0)
            .ok_or_else(|| Error::failed("fewer than two collections were noticed; give more --collections"))
    }

    fn measure(&self, collections: u64) -> Result<Value> {
        let terrace = AgentOptions::default();
        let mut sides: [Vec<f64>; 2] = Default::default();
        for round in 0..2 {
            // A B, and B A if there is a second time.
            for side in if round == 0 { [0, 1] } else { [1, 0] } {
                let agent = (side == 0).then_some(&terrace);
                sides[side].push(self.bytes_per_collection(agent, collections)?);
            }
            if (ratio(&sides) - 1.0).abs() < DIFFERENT {
                break;
            }
        }
        let ratio = ratio(&sides);
        eprintln!("  {ratio:.4}");
        let [terrace, stock] = sides;
        Ok(json!({ "shape": self.shape, "collector": self.collector.name(), "jdk": self.jdk.feature,
            "young": self.young.0, "ratio": ratio, "terrace_bytes_per_collection": terrace,
            "stock_bytes_per_collection": stock }))
    }
}

/// Collections for each byte, terrace / stock.
fn ratio(sides: &[Vec<f64>; 2]) -> f64 {
    let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
    mean(&sides[1]) / mean(&sides[0])
}

/// Measures and shows.
pub fn run(arguments: &Arguments) -> Result<()> {
    let shapes = shapes();
    let known: Vec<&str> = shapes.iter().map(|(name, _)| name.as_str()).collect();
    if let Some(unknown) = arguments.size.iter().find(|size| !known.contains(&size.as_str())) {
        return Err(Error::usage(format!("--size {unknown} is none of {}", known.join(", "))));
    }
    build::all()?;
    let jdks = one_of_each();
    let mut cases = Vec::new();
    for collector in COLLECTORS.into_iter().filter(|gc| arguments.gc.is_none_or(|only| only == *gc)) {
        for jdk in jdks.iter().filter(|jdk| arguments.jdk.is_none_or(|only| only == jdk.feature)) {
            if !jdk.has(collector) {
                eprintln!("skipped: {} on {}: the build has it not", collector.name(), jdk.describe());
                continue;
            }
            for young in YOUNG
                .into_iter()
                .filter(|(name, _)| arguments.young.as_deref().is_none_or(|only| only == *name))
            {
                for (shape, parameters) in shapes
                    .iter()
                    .filter(|(name, _)| arguments.size.is_empty() || arguments.size.contains(name))
                {
                    let threads = arguments.threads;
                    cases.push(Case {
                        name: format!(
                            "{} {} -Xmn{}, {threads} threads, {shape}",
                            collector.name(),
                            jdk.feature,
                            young.0
                        ),
                        shape,
                        parameters: Parameters { threads: Some(threads), ..parameters.clone() },
                        collector,
                        jdk,
                        young,
                    });
                }
            }
        }
    }
    if cases.is_empty() {
        return Err(Error::usage("no JDK found has what --gc and --jdk ask for; leave one of them out"));
    }
    let mut cells = Cells::open("waste", cases.len(), arguments.resume)?;
    for case in &cases {
        cells.measure(&case.name, || case.measure(arguments.collections))?;
    }
    show(&cases, &cells);
    cells.finish()
}

fn show(cases: &[Case<'_>], cells: &Cells) {
    let found = cells.of(cases.iter().map(|case| case.name.as_str()));
    let of = |case: &Case<'_>| found.iter().find(|cell| cell["name"] == *case.name)?["ratio"].as_f64();
    let mut columns: Vec<(Collector, u32, &str)> = Vec::new();
    for case in cases {
        let column = (case.collector, case.jdk.feature, case.young.0);
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    // Six to a table: they fit 100 columns.
    for part in columns.chunks(6) {
        let header: Vec<String> = std::iter::once("terrace / stock".to_owned())
            .chain(part.iter().map(|(gc, jdk, young)| format!("{} {jdk} {young}", gc.name())))
            .collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let mut rows = table_of(&header);
        for (shape, _) in shapes() {
            let values: Vec<String> = part
                .iter()
                .map(|(gc, jdk, young)| {
                    cases
                        .iter()
                        .find(|case| {
                            case.shape == shape
                                && (case.collector, case.jdk.feature, case.young.0) == (*gc, *jdk, *young)
                        })
                        .and_then(of)
                        .map_or(String::new(), |ratio| format!("{ratio:.4}"))
                })
                .collect();
            if values.iter().any(|value| !value.is_empty()) {
                rows.add_row(std::iter::once(shape).chain(values));
            }
        }
        println!("{rows}");
    }
    let above: Vec<String> = cases
        .iter()
        .filter_map(|case| Some((case, of(case)?)))
        .filter(|(_, ratio)| *ratio > MOST)
        .map(|(case, ratio)| format!("{}: {ratio:.4}", case.name))
        .collect();
    println!("collections for each allocated byte, terrace's defaults / stock");
    println!("cells above {MOST}: {}", if above.is_empty() { "none".into() } else { above.join("; ") });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_of_collections_not_of_bytes() {
        assert_eq!(ratio(&[vec![80.0], vec![100.0]]), 1.25);
        assert_eq!(ratio(&[vec![100.0, 100.0], vec![90.0, 110.0]]), 1.0);
    }

    #[test]
    fn shapes_are_what_the_table_has() {
        let names: Vec<String> = shapes().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), 11);
        assert_eq!((names[0].as_str(), names[10].as_str()), ("1k", "mixture"));
        assert_eq!(flags(Collector::G1, 64 << 20), ["-Xms464m", "-Xmx464m", "-Xmn64m"]);
    }
}
