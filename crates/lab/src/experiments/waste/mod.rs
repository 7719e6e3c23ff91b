//! `waste`: collections for each allocated byte, Terrace's defaults against a stock JVM, for arrays of many sizes.
//!
//! A fixed number of bytes is allocated in either JVM. The work is the same to the byte, so that collections hardly differ from run to
//! run. Bytes for each collection are counted between the first collection noticed and the last, not over the whole run, which would be
//! uncertain by one collection at either end.

use super::matrix::COLLECTORS;
use crate::{Error, Result};
use compare::{Program, fixed};
use experiment::claim::OWN;
use experiment::compared::{AROUND, Case, plan as plan_of, varying};
use experiment::{
    Bench, Better, Cell, Claim, Declaration, Effort, Experiment, Kind, Measured, Metric, NO_ANSWER, Plan,
    Plot, Relation, Runner, Sample, Term, parameters, value,
};
use jvm::agent::{AgentOptions, Tlab};
use jvm::install::Install;
use jvm::jdk::Collector;
use jvm::workload::{Lengths, Parameters as WorkloadParameters, Workload};
use std::time::Duration;

const YOUNG: [(&str, u64); 2] = [("64m", 64 << 20), ("600m", 600 << 20)];
const SIZES: [u64; 9] = [1, 4, 8, 20, 30, 60, 100, 130, 200];
/// Collections for which bytes are allocated, of the larger young generation; of the smaller five times as many.
const COLLECTIONS: u64 = 22;
/// Terrace may need so many times as many collections as stock.
const MOST: f64 = 1.01;
const LIMIT: Duration = Duration::from_secs(300);

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims, answer)
}

fn declaration() -> Declaration {
    let text = "bytes per collection of a stock JVM, over those with Terrace's defaults";
    Declaration {
        name: "waste".into(),
        title: "Collections per allocated byte".into(),
        question: "Does Terrace collect more often than a stock JVM for the same bytes?".into(),
        parameters: varying(&["arrays", "collector", "jdk", "threads", "young"]),
        metrics: vec![Metric::new("ratio", "collections, Terrace / stock", "ratio", Better::Lower, text)],
        plots: vec![
            Plot::new(Kind::Bars, "Collections per byte", "ratio", "arrays", &["jdk", "young", "threads"])
                .panels(&["collector"]),
        ],
        by_name: true,
        ..Declaration::default()
    }
}

/// What is allocated, by name.
fn shapes() -> Vec<(String, WorkloadParameters)> {
    let none = WorkloadParameters::default;
    let one = |size: u64| (format!("{size}k"), WorkloadParameters { size: Some(size << 10), ..none() });
    let other =
        |name: &str, lengths| (name.to_owned(), WorkloadParameters { lengths: Some(lengths), ..none() });
    let list = other("alternating", Lengths::List("100000,64x20".into()));
    let mixture = other("mixture", Lengths::Mixture("16..200k".into()));
    SIZES.into_iter().map(one).chain([list, mixture]).collect()
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

/// Quick: the newest JDK with Parallel and the smaller young generation.
fn plan(bench: &Bench) -> Result<Plan> {
    let full = bench.effort == Effort::Full;
    let mut cells = Vec::new();
    for collector in COLLECTORS.into_iter().chain([Collector::Shenandoah]) {
        for jdk in bench.chosen_jdks() {
            for (name, young) in YOUNG {
                for threads in [2_u32, 16] {
                    if !full && (collector, name, threads) != (Collector::Parallel, YOUNG[0].0, 2) {
                        continue;
                    }
                    for (arrays, parameters) in shapes() {
                        let parameters = WorkloadParameters { threads: Some(threads), ..parameters };
                        let (workload, jdk, tlab) = (Workload::Sizes, jdk.clone(), Tlab::Auto);
                        let case = Case { workload, parameters, jdk, collector, flags: &[], tlab, warmup: 0 };
                        cells.push(cell(bench, case, &arrays, (name, young)));
                    }
                }
            }
        }
    }
    Ok(plan_of(bench, bench.effort.pick(1, 2), cells))
}

fn cell(bench: &Bench, case: Case, arrays: &str, (name, young): (&str, u64)) -> Cell {
    let at = parameters([
        ("arrays", arrays.into()),
        ("collector", case.collector.name().into()),
        ("jdk", case.jdk.feature.into()),
        ("threads", case.parameters.threads.unwrap_or_default().into()),
        ("young", name.into()),
    ]);
    let collections = if name == YOUNG[0].0 { 5 * COLLECTIONS } else { COLLECTIONS };
    let runner = match case.flags() {
        Err(error) => Runner::Unavailable(error.to_string()),
        Ok(mut own) => {
            own.extend(flags(case.collector, young));
            let parameters =
                WorkloadParameters { work: Some(collections * young), warmup: Some(0), ..case.parameters };
            let program = Program::Workload(case.workload, parameters, case.jdk);
            let (install, swapped) = (bench.install.clone(), std::cell::Cell::new(false));
            Runner::native(move || {
                let one = |with: bool| bytes_per_collection(&program, with, &own, &install);
                // A B, then B A.
                let (terrace, stock) = if swapped.replace(!swapped.get()) {
                    let stock = one(false)?;
                    (one(true)?, stock)
                } else {
                    (one(true)?, one(false)?)
                };
                Ok(Sample { processes: 2, ..Sample::default() }.value("ratio", stock / terrace))
            })
        }
    };
    // About a GB each second.
    let seconds = 2.0 * ((collections * young) as f64 / 1e9 + AROUND);
    Cell { parameters: at, seconds, runner }
}

fn bytes_per_collection(program: &Program, with: bool, flags: &[String], install: &Install) -> Result<f64> {
    let terrace = AgentOptions::default();
    let run = fixed::run(program, with.then_some(&terrace), flags, install, LIMIT)?;
    let bytes = run.report.bytes_per_collection.filter(|bytes| *bytes > 0.0);
    bytes.ok_or_else(|| Error::failed("fewer than two collections were observed; is the machine overloaded?"))
}

fn claims(_: &Measured) -> Vec<Claim> {
    let most = Term::metric("at most", "ratio").highest();
    let claim = Claim::new("Terrace needs at most 1 % more collections", OWN).each("collector");
    vec![claim.that(most.is(Relation::AtMost(MOST), 1.0))]
}

fn answer(measured: &Measured) -> String {
    let known: Vec<(String, f64)> = (measured.cells.iter())
        .filter_map(|cell| {
            Some((value::name(&cell.parameters), cell.metrics.get("ratio")?.interval()?.median))
        })
        .collect();
    let above = known.iter().filter(|(_, ratio)| *ratio > MOST);
    let above: Vec<String> = above.map(|(cell, ratio)| format!("{cell}: {ratio:.4}")).collect();
    match (known.len(), above.as_slice()) {
        (0, _) => NO_ANSWER.into(),
        (all, []) => format!("None of {all} cells collects more than {MOST} times as often."),
        (all, above) => format!(
            "{} of {all} cells collect more than {MOST} times as often: {}.",
            above.len(),
            above.join("; ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::fixture::{cell, conclude, holds};

    #[test]
    fn shapes_are_what_the_table_has() {
        let names: Vec<String> = shapes().into_iter().map(|(name, _)| name).collect();
        assert_eq!((names.len(), names[0].as_str(), names[10].as_str()), (11, "1k", "mixture"));
        assert_eq!(flags(Collector::G1, 64 << 20), ["-Xms464m", "-Xmx464m", "-Xmn64m"]);
    }

    #[test]
    fn cells_with_more_collections_are_named() {
        let of =
            |collector: &str, ratio| cell(parameters([("collector", collector.into())]), &[("ratio", ratio)]);
        let (answer, checks) = conclude(&experiment(), &[of("g1", 0.99), of("serial", 1.05)]);
        assert_eq!(holds(&checks), [Some(false)]);
        assert_eq!(answer, "1 of 2 cells collect more than 1.01 times as often: collector=serial: 1.0500.");
        assert_eq!(holds(&conclude(&experiment(), &[of("g1", 0.99)]).1), [Some(true)]);
    }
}
