//! `waste`: collections for each allocated byte, Terrace's defaults against a stock JVM, for arrays of many sizes.
//!
//! A fixed number of bytes is allocated in either JVM, both at the same time. Two figures are counted between the first collection noticed
//! and the last, not over the whole run, which would be uncertain by one collection at either end: the bytes for each collection, and the
//! heap used up for each byte, which is what a collection found in use less what the one before had left. The second is waste alone; the
//! first also depends on how full the heap is when the collector begins, and on what it leaves.
//!
//! With most collectors both differ by less than 0.1 % from run to run. Shenandoah leaves more or less from JVM to JVM, a stock one as well:
//! its cells go on for as many rounds as there are.

use super::matrix::COLLECTORS;
use crate::{Error, Result};
use compare::Program;
use compare::fixed::{self, FixedRun, Fork};
use experiment::claim::OWN;
use experiment::compared::{AROUND, Case, plan as plan_of, varying};
use experiment::{
    Bench, Better, Cell, Claim, Declaration, Effort, Experiment, Kind, Measured, Metric, NO_ANSWER, Plan,
    Plot, Relation, Runner, Sample, Term, parameters, value,
};
use jvm::agent::{AgentOptions, Tlab};
use jvm::install::Install;
use jvm::jdk::Collector;
use jvm::workload::{Lengths, Parameters as WorkloadParameters, Report, Workload};
use statistics::Interval;
use std::time::Duration;

const YOUNG: [(&str, u64); 2] = [("64m", 64 << 20), ("600m", 600 << 20)];
const SIZES: [u64; 9] = [1, 4, 8, 20, 30, 60, 100, 130, 200];
/// Collections for which bytes are allocated, about, of each young generation. A mark is late by some hundred KB, so that both figures
/// are within 0.1 % of what the JVM did.
const COLLECTIONS: [u64; 2] = [36, 9];
/// Terrace may need so many times as many collections as stock.
const MOST: f64 = 1.01;
/// Half of an interval's width at which a cell ends, as a share.
const PRECISION: f64 = 0.003;
/// Why Shenandoah has no heap used up: what it left is read after threads have allocated again.
const UNREADABLE: &str = "Shenandoah reads what it left after threads have resumed";
const LIMIT: Duration = Duration::from_secs(300);

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims, answer)
}

fn declaration() -> Declaration {
    let ratio = "bytes per collection of a stock JVM, over those with Terrace's defaults";
    let heap = "heap used up between collections for each byte allocated, with Terrace's defaults over a stock JVM's";
    Declaration {
        name: "waste".into(),
        title: "Collections per allocated byte".into(),
        question: "Does Terrace collect more often than a stock JVM for the same bytes?".into(),
        parameters: varying(&["arrays", "collector", "jdk", "threads", "young"]),
        metrics: vec![
            Metric::new("ratio", "collections, Terrace / stock", "ratio", Better::Lower, ratio),
            Metric::new("heap", "heap used up, Terrace / stock", "ratio", Better::Lower, heap),
        ],
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
    let plan = plan_of(bench, bench.effort.pick(1, 16), cells);
    Ok(Plan { precision: Some(PRECISION), ..plan })
}

fn cell(bench: &Bench, case: Case, arrays: &str, (name, young): (&str, u64)) -> Cell {
    let at = parameters([
        ("arrays", arrays.into()),
        ("collector", case.collector.name().into()),
        ("jdk", case.jdk.feature.into()),
        ("threads", case.parameters.threads.unwrap_or_default().into()),
        ("young", name.into()),
    ]);
    let young_at = YOUNG.iter().position(|(own, _)| *own == name).unwrap_or_default();
    let work = COLLECTIONS[young_at] * young;
    let runner = match case.flags() {
        Err(error) => Runner::Unavailable(error.to_string()),
        Ok(mut own) => {
            own.extend(flags(case.collector, young));
            let parameters = WorkloadParameters { work: Some(work), warmup: Some(0), ..case.parameters };
            let program = Program::Workload(case.workload, parameters, case.jdk);
            let install = bench.install.clone();
            let collector = case.collector;
            Runner::native(move || pair(&program, collector, &own, &install))
        }
    };
    // About 2 GB each second, of either JVM.
    let seconds = work as f64 / 2e9 + AROUND;
    Cell { parameters: at, seconds, runner }
}

/// A JVM with Terrace's defaults and a stock one, at the same time.
fn pair(program: &Program, collector: Collector, flags: &[String], install: &Install) -> Result<Sample> {
    let agent = AgentOptions::default();
    let forks = [Fork { agent: Some(&agent), visit: None }, Fork::default()];
    let [terrace, stock] = fixed::together(program, forks, flags, install, LIMIT)?;
    let ratio = |figure: fn(&Report) -> Option<f64>, over: &FixedRun, under: &FixedRun| {
        let both = figure(&over.report).zip(figure(&under.report));
        let ratio =
            both.filter(|(over, under)| *over > 0.0 && *under > 0.0).map(|(over, under)| over / under);
        ratio.map(Interval::exactly).ok_or_else(|| {
            Error::failed("fewer than two collections were observed; is the machine overloaded?")
        })
    };
    let collections = ratio(|report| report.bytes_per_collection, &stock, &terrace)?;
    let sample = Sample { processes: 2, ..Sample::default() }.estimate("ratio", collections);
    Ok(match collector {
        Collector::Shenandoah => sample.lacks("heap", UNREADABLE),
        _ => sample.estimate("heap", ratio(|report| report.heap_used_per_byte, &terrace, &stock)?),
    })
}

fn claims(_: &Measured) -> Vec<Claim> {
    let claim = |words, metric| {
        let most = Term::metric("at most", metric).highest();
        Claim::new(words, OWN).each("collector").that(most.is(Relation::AtMost(MOST), 1.0))
    };
    vec![
        claim("Terrace uses up at most 1 % more heap", "heap").without(
            "collector",
            Collector::Shenandoah.name(),
            UNREADABLE,
        ),
        claim("Terrace needs at most 1 % more collections", "ratio"),
    ]
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
    use experiment::{MeasuredCell, Quantity};

    #[test]
    fn shapes_are_what_the_table_has() {
        let names: Vec<String> = shapes().into_iter().map(|(name, _)| name).collect();
        assert_eq!((names.len(), names[0].as_str(), names[10].as_str()), (11, "1k", "mixture"));
        assert_eq!(flags(Collector::G1, 64 << 20), ["-Xms464m", "-Xmx464m", "-Xmn64m"]);
    }

    #[test]
    fn cells_with_more_collections_are_named() {
        let of = |collector: &str, ratio, heap| {
            cell(parameters([("collector", collector.into())]), &[("ratio", ratio), ("heap", heap)])
        };
        let (answer, checks) = conclude(&experiment(), &[of("g1", 0.99, 0.99), of("serial", 1.05, 1.0)]);
        assert_eq!(holds(&checks), [Some(true), Some(false)]);
        assert_eq!(answer, "1 of 2 cells collect more than 1.01 times as often: collector=serial: 1.0500.");
        assert_eq!(holds(&conclude(&experiment(), &[of("g1", 0.99, 1.05)]).1), [Some(false), Some(true)]);
    }

    #[test]
    fn heap_that_shenandoah_cannot_read_leaves_the_claim_to_the_others() {
        let of = |collector: Collector, heap| {
            let at = parameters([("collector", collector.name().into())]);
            let cell = cell(at, &[("ratio", 0.98), ("heap", 0.98)]);
            MeasuredCell { metrics: cell.metrics.into_iter().chain(heap).collect(), ..cell }
        };
        let lacking = || Some(("heap".to_owned(), Quantity::unavailable(UNREADABLE.into())));
        let shenandoah = || of(Collector::Shenandoah, lacking());
        let (_, checks) = conclude(&experiment(), &[of(Collector::G1, None), shenandoah()]);
        assert_eq!(holds(&checks), [Some(true), Some(true)], "{checks:#?}");
        assert!(checks[0].found.contains("without shenandoah: Shenandoah reads"), "{}", checks[0].found);
        // Of any other collector what is lacking leaves it open; of Shenandoah alone nothing is said.
        let (_, checks) = conclude(&experiment(), &[of(Collector::G1, lacking()), shenandoah()]);
        assert_eq!(holds(&checks), [None, Some(true)]);
        assert_eq!(holds(&conclude(&experiment(), &[shenandoah()]).1), [None, Some(true)]);
    }
}
