//! `sizing`: sizes of buffers that follow what is seen (`core=auto`) against fixed ones, in windows inside one JVM.

use super::applications::{self, in_process};
use super::matrix::COLLECTORS;
use crate::Result;
use compare::side::Side;
use compare::stopping::Precision;
use compare::words;
use experiment::claim::OWN;
use experiment::compared::{self, AROUND, Case, metrics, plan as plan_of, varying};
use experiment::{
    Bench, Cell, Claim, Declaration, Effort, Experiment, Kind, Measured, MeasuredCell, NO_ANSWER, Parameters,
    Plan, Plot, Relation, Term, parameters, value,
};
use jvm::agent::{AgentOptions, Tlab};
use jvm::application::{APPLICATIONS, Application};
use jvm::jdk::{Collector, Jdk};
use jvm::workload::{Lengths, Parameters as WorkloadParameters, Workload};
use present::numbers;

/// The fixed sizes; the largest is the most that `auto` ever has.
const SIZES: [&str; 4] = ["16k", "64k", "256k", "1m"];
const QUICK_SIZES: [&str; 2] = ["16k", "256k"];
/// A cell's time at most, in seconds.
const MOST_SECONDS: u64 = 45;
/// Half of an interval's width at which a cell ends, as a share.
const PRECISION: f64 = 0.01;
/// A cell whose whole interval lies below this has a better fixed size.
const LOSS: f64 = 0.98;

/// A program: name, workload, thread buffers, threads, the heap's flags.
type Program = (&'static str, Workload, Tlab, u32, &'static [&'static str]);

/// An eden whose collections are rare, one whose collections are many a second, and one of which the buffers' rests are a larger part.
const AMPLE: &[&str] = &["-Xms2g", "-Xmx2g", "-Xmn1g"];
const SMALL: &[&str] = &["-Xms512m", "-Xmx512m", "-Xmn64m"];
const TINY: &[&str] = &["-Xms512m", "-Xmx512m", "-Xmn16m"];

/// Those with 1 GB of young generation are cells of `matrix`.
const PROGRAMS: [Program; 13] = [
    ("alloc, 1 KB TLABs", Workload::Alloc, Tlab::Bytes(1 << 10), 2, AMPLE),
    ("alloc, 2 KB TLABs", Workload::Alloc, Tlab::Bytes(2 << 10), 2, AMPLE),
    ("alloc, 16 KB TLABs", Workload::Alloc, Tlab::Bytes(16 << 10), 2, AMPLE),
    ("alloc, 64 KB TLABs", Workload::Alloc, Tlab::Bytes(64 << 10), 2, AMPLE),
    ("alloc, 1 KB TLABs, 16 threads", Workload::Alloc, Tlab::Bytes(1 << 10), 16, AMPLE),
    ("alloc, 16 KB TLABs, 16 threads", Workload::Alloc, Tlab::Bytes(16 << 10), 16, AMPLE),
    ("alloc, 4 KB TLABs", Workload::Alloc, Tlab::Bytes(4 << 10), 2, SMALL),
    ("alloc", Workload::Alloc, Tlab::Auto, 16, SMALL),
    ("churn", Workload::Churn, Tlab::Auto, 16, SMALL),
    ("threads", Workload::Threads, Tlab::Auto, 16, SMALL),
    ("sizes", Workload::Sizes, Tlab::Auto, 16, SMALL),
    ("sizes, 16 MB", Workload::Sizes, Tlab::Auto, 16, TINY),
    ("javac", Workload::Javac, Tlab::Auto, 2, &[]),
];

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims, answer)
}

fn declaration() -> Declaration {
    let plot = |title, metric| {
        Plot::new(Kind::Bars, title, metric, "size", &["program"]).panels(&["collector", "jdk"])
    };
    Declaration {
        name: "sizing".into(),
        title: "Adaptive buffer sizes compared with fixed ones".into(),
        question: "Is there a program for which a fixed buffer size is better than core=auto?".into(),
        parameters: varying(&["program", "collector", "jdk", "size"]),
        metrics: metrics(&["speed", "cpu", "heap", "pairs", "untrimmed"]),
        plots: vec![plot("Per second", "speed"), plot("Per CPU-second", "cpu")],
        by_name: true,
        ..Declaration::default()
    }
}

/// Quick: Parallel and G1 of the newest JDK against two sizes, without javac and the applications.
fn plan(bench: &Bench) -> Result<Plan> {
    let full = bench.effort == Effort::Full;
    let mut cells = Vec::new();
    for collector in COLLECTORS {
        for jdk in bench.chosen_jdks() {
            for program in &PROGRAMS {
                for size in bench.effort.pick(&QUICK_SIZES[..], &SIZES) {
                    if full || collector != Collector::Serial && program.1 != Workload::Javac {
                        cells.push(cell(bench, program, collector, jdk, size)?);
                    }
                }
            }
            if full && applications::COLLECTORS.contains(&collector) {
                for (application, size) in
                    APPLICATIONS.iter().flat_map(|application| SIZES.map(|size| (application, size)))
                {
                    cells.push(application_cell(bench, application, collector, jdk, size)?);
                }
            }
        }
    }
    Ok(plan_of(bench, 1, cells))
}

fn place(program: &str, collector: Collector, jdk: &Jdk, size: &str) -> Parameters {
    parameters([
        ("program", program.into()),
        ("collector", collector.name().into()),
        ("jdk", jdk.feature.into()),
        ("size", size.into()),
    ])
}

/// `auto` with this agent against a size.
fn sides(agent: &AgentOptions, size: &str) -> Result<[Side; 2]> {
    words::sides(["terrace core=auto", &format!("terrace core={size}")], agent)
}

/// A real program in its small heap, by its own operations.
fn application_cell(
    bench: &Bench,
    application: &'static Application,
    collector: Collector,
    jdk: &Jdk,
    size: &str,
) -> Result<Cell> {
    let seconds = bench.wanted.seconds.unwrap_or(MOST_SECONDS);
    let sides = sides(&AgentOptions::default(), size)?;
    let precision = Some(Precision(bench.wanted.precision.unwrap_or(PRECISION)));
    let (_, heap) = application.heaps[0];
    let comparison = applications::flags(bench, application, collector, jdk, heap)
        .and_then(|flags| in_process::windows(bench, application, jdk, flags, sides, (seconds, precision)));
    let at = place(&format!("{}, application", application.name), collector, jdk, size);
    let length = (bench.warmup(application.warmup) + seconds) as f64 + AROUND;
    Ok(compared::cell(at, length, comparison, compared::sample))
}

fn cell(
    bench: &Bench,
    (name, workload, tlab, threads, flags): &Program,
    collector: Collector,
    jdk: &Jdk,
    size: &str,
) -> Result<Cell> {
    let case = Case {
        workload: *workload,
        parameters: WorkloadParameters {
            threads: Some(*threads),
            lengths: (*workload == Workload::Sizes).then(|| Lengths::Mixture("16..200k".into())),
            ..WorkloadParameters::default()
        },
        jdk: jdk.clone(),
        collector,
        flags,
        tlab: *tlab,
        // Long enough for several evaluations of eight collections each: sizes rest while windows alternate.
        warmup: if *flags == SMALL || *flags == TINY { 5 } else { 15 },
    };
    let sides = sides(&case.agent(), size)?;
    let at = place(name, collector, jdk, size);
    Ok(case.windows(bench, at, sides, 20, MOST_SECONDS, Some(PRECISION)))
}

fn claims(_: &Measured) -> Vec<Claim> {
    let worse = |(text, metric)| {
        Claim::new(text, OWN).that(Term::metric("at worst", metric).lowest().is(Relation::AtLeast(LOSS), 1.0))
    };
    [("no fixed size is more than 2 % faster", "speed"), ("no fixed size needs 2 % less CPU time", "cpu")]
        .map(worse)
        .into()
}

fn answer(measured: &Measured) -> String {
    let known =
        |cell: &MeasuredCell| Some((value::name(&cell.parameters), cell.metrics.get("speed")?.interval()?));
    let all: Vec<_> = measured.select(&[]).filter_map(known).collect();
    if all.is_empty() {
        return NO_ANSWER.into();
    }
    let behind: Vec<String> = (all.iter().filter(|(_, found)| found.high < LOSS))
        .map(|(cell, found)| format!("{cell}: {}", numbers::interval(found, "")))
        .collect();
    let list = if behind.is_empty() { String::new() } else { format!(" ({})", behind.join("; ")) };
    format!(
        "In {} of {} cells the fixed size is more than 2 % faster{list}; {} exclude such a loss.",
        behind.len(),
        all.len(),
        all.iter().filter(|(_, found)| found.low >= LOSS).count()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::fixture::{cell, conclude, holds};

    #[test]
    fn a_fixed_size_that_is_better_is_named() {
        let of = |size: &str, speed| {
            cell(
                parameters([("program", "alloc".into()), ("size", size.into())]),
                &[("speed", speed), ("cpu", 1.0)],
            )
        };
        let (answer, checks) = conclude(&experiment(), &[of("16k", 1.2), of("256k", 1.0)]);
        assert_eq!(holds(&checks), [Some(true); 2]);
        assert_eq!(answer, "In 0 of 2 cells the fixed size is more than 2 % faster; 2 exclude such a loss.");
        let (answer, checks) = conclude(&experiment(), &[of("16k", 0.9), of("256k", 0.98)]);
        assert_eq!(holds(&checks), [Some(false), Some(true)]);
        assert!(answer.contains("In 1 of 2 cells") && answer.contains("size=16k: 0.900"), "{answer}");
    }
}
