//! `matrix`: what buffers do for small fixed TLABs, for every collector, JDK, size and number of threads.

use crate::Result;
use compare::side::Side;
use experiment::claim::OWN;
use experiment::compared::{Case, metrics, plan as plan_of, varying};
use experiment::{
    Bench, Cell, Claim, Declaration, Experiment, Kind, Measured, NO_ANSWER, Parameter, Plan, Plot, Relation,
    Term, Value, parameters,
};
use jvm::agent::{AgentOptions, Tlab};
use jvm::jdk::Collector;
use jvm::workload::{Parameters as WorkloadParameters, Workload};
use present::numbers;

pub(super) const COLLECTORS: [Collector; 3] = [Collector::Serial, Collector::Parallel, Collector::G1];
/// A cell whose whole interval lies below this is a loss.
pub(super) const LOSS: f64 = 0.99;

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims, answer)
}

fn declaration() -> Declaration {
    Declaration {
        name: "matrix".into(),
        title: "Small fixed TLABs with and without buffers".into(),
        question: "What do core buffers do for small fixed TLABs, for each collector and JDK?".into(),
        parameters: grid_parameters(),
        metrics: metrics(&["speed", "cpu", "pairs", "untrimmed", "collections_ratio"]),
        plots: vec![
            Plot::new(
                Kind::Lines,
                "Allocation, buffers on / off in one JVM",
                "speed",
                "tlab",
                &["jdk", "threads"],
            )
            .panels(&["collector"])
            .log_x()
            .caption(
                "Above 1 the buffers help. The smaller the TLAB, the more often a thread refills from them.",
            ),
        ],
        by_name: true,
        ..Declaration::default()
    }
}

/// What varies in [`grid`].
pub(super) fn grid_parameters() -> Vec<Parameter> {
    let mut parameters = varying(&["collector", "jdk", "threads"]);
    parameters.push(Parameter::new("tlab", "TLAB", "bytes"));
    parameters
}

fn plan(bench: &Bench) -> Result<Plan> {
    let tlabs: &[u64] = bench.effort.pick(&[1, 4, 64], &[1, 2, 4, 16, 64]);
    Ok(plan_of(bench, bench.effort.pick(1, 3), grid(bench, Side::off, tlabs)))
}

/// `alloc` with fixed TLABs of so many KB in a heap whose collections are few, buffers on against another side.
pub(super) fn grid(bench: &Bench, against: fn(AgentOptions) -> Side, tlabs: &[u64]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for collector in COLLECTORS {
        for jdk in bench.chosen_jdks() {
            for threads in bench.effort.pick(&[2][..], &[2, 16]) {
                for tlab in tlabs.iter().map(|kilobytes| kilobytes << 10) {
                    let case = Case {
                        workload: Workload::Alloc,
                        parameters: WorkloadParameters {
                            threads: Some(*threads),
                            ..WorkloadParameters::default()
                        },
                        jdk: jdk.clone(),
                        collector,
                        flags: &["-Xms2g", "-Xmx2g", "-Xmn1g"],
                        tlab: Tlab::Bytes(tlab),
                        warmup: 3,
                    };
                    let at = parameters([
                        ("collector", collector.name().into()),
                        ("jdk", jdk.feature.into()),
                        ("threads", (*threads).into()),
                        ("tlab", tlab.into()),
                    ]);
                    let sides = [Side::terrace, against].map(|side| side(case.agent()));
                    cells.push(case.windows(bench, at, sides, 100, 8, None));
                }
            }
        }
    }
    cells
}

fn claims(_: &Measured) -> Vec<Claim> {
    let worst = Term::metric("at worst", "speed").lowest();
    vec![Claim::new("no cell is slower with buffers", OWN).that(worst.is(Relation::AtLeast(LOSS), 1.0))]
}

fn answer(measured: &Measured) -> String {
    let mean = |tlab: Value| {
        let found = Term::metric("", "speed").at("tlab", tlab.clone()).mean().of(measured)?;
        Some(format!(
            "{} times with TLABs of {}",
            numbers::interval(&found.interval, ""),
            numbers::bytes(tlab.number()?)
        ))
    };
    let means: Vec<String> = measured.values("tlab", "speed").into_iter().filter_map(mean).collect();
    match means.as_slice() {
        [] => NO_ANSWER.into(),
        means => format!("On average the allocation rate is {}.", means.join(", ")),
    }
}

/// The mean of all cells' speed, and the lowest: `times` says of what.
pub(super) fn mean_and_worst(measured: &Measured, times: &str) -> String {
    let speed = || Term::metric("", "speed");
    let mean = speed().mean().of(measured).map(|found| found.interval.median);
    match mean.zip(speed().lowest().of(measured)) {
        Some((mean, worst)) => format!(
            "On average {} times {times}, at worst {}.",
            numbers::three(mean),
            numbers::interval(&worst.interval, "")
        ),
        None => NO_ANSWER.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::fixture::{cell, conclude, holds};

    #[test]
    fn one_cell_that_is_slower_decides() {
        let of = |threads: u32, speed| {
            cell(parameters([("threads", threads.into()), ("tlab", 1024_u32.into())]), &[("speed", speed)])
        };
        let (answer, checks) = conclude(&experiment(), &[of(2, 4.0), of(16, 1.0)]);
        assert_eq!(holds(&checks), [Some(true)]);
        assert!(answer.contains("2.00 [1.98, 2.02] times with TLABs of 1k"), "{answer}");
        assert_eq!(holds(&conclude(&experiment(), &[of(2, 4.0), of(16, 0.995)]).1), [None]);
        assert_eq!(holds(&conclude(&experiment(), &[of(2, 4.0), of(16, 0.97)]).1), [Some(false)]);
    }
}
