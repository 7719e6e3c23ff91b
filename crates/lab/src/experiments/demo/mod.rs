//! `demo`: a few programs, what everyday ones see first, and the flag that a user would try without Terrace.

use crate::Result;
use crate::experiment::compared::{Case, metrics, plan as plan_of, varying};
use crate::experiment::{Bench, Declaration, Experiment, Kind, Measured, NO_ANSWER, Plan, Plot, parameters};
use compare::side::Side;
use jvm::agent::Tlab;
use jvm::jdk::Collector::{self, G1, Parallel};
use jvm::workload::{Parameters as WorkloadParameters, Workload};
use present::numbers;

const EVERYDAY: &str = "javac, defaults";
const SHORT_LIVED: &str = "thread for each task, defaults";
const TLAB_1K: &str = "only allocation, 1 KB TLABs";

struct Row {
    program: &'static str,
    workload: Workload,
    collector: Collector,
    tlab: Tlab,
    flags: &'static [&'static str],
}

const ROWS: [Row; 6] = [
    row(EVERYDAY, Workload::Javac, Parallel, Tlab::Auto, &["-Xmx2g"]),
    row("javac, 4 KB TLABs", Workload::Javac, Parallel, Tlab::Bytes(4 << 10), &["-Xmx2g"]),
    row(TLAB_1K, Workload::Alloc, Parallel, Tlab::Bytes(1 << 10), &["-Xms2g", "-Xmx2g", "-Xmn1g"]),
    row(TLAB_1K, Workload::Alloc, G1, Tlab::Bytes(1 << 10), &["-Xms2g", "-Xmx2g", "-Xmn1g"]),
    row(SHORT_LIVED, Workload::Churn, Parallel, Tlab::Auto, &["-Xmx512m"]),
    row(
        "thread for each task, TLABSize=4k",
        Workload::Churn,
        Parallel,
        Tlab::Auto,
        &["-Xmx512m", "-XX:TLABSize=4k"],
    ),
];

const fn row(
    program: &'static str,
    workload: Workload,
    collector: Collector,
    tlab: Tlab,
    flags: &'static [&'static str],
) -> Row {
    Row { program, workload, collector, tlab, flags }
}

/// The experiment.
pub fn experiment() -> Experiment {
    Experiment { declaration: declaration(), plan, derive: None, claims: |_| Vec::new(), answer }
}

fn declaration() -> Declaration {
    Declaration {
        name: "demo".into(),
        title: "A few programs with Terrace".into(),
        question: "What does Terrace do for a few programs on this machine?".into(),
        parameters: varying(&["program", "collector", "jdk", "compared"]),
        metrics: metrics(&["speed", "collections_a", "collections_b", "collections_ratio", "cpu", "pairs"]),
        plots: vec![
            Plot::new(Kind::Bars, "Speed", "speed", "program", &["collector", "compared"])
                .panels(&["jdk"])
                .caption(
                    "Above 1 Terrace is faster; an interval that includes 1 means no significant difference.",
                ),
        ],
        by_name: true,
        ..Declaration::default()
    }
}

fn plan(bench: &Bench) -> Result<Plan> {
    let mut cells = Vec::new();
    for jdk in bench.chosen_jdks() {
        for Row { program, workload, collector, tlab, flags } in ROWS {
            // A thread for each task has its own number of them, and comes and goes: only whole JVMs tell.
            let forks = workload == Workload::Churn;
            let threads = (!forks).then_some(2);
            let case = Case {
                workload,
                parameters: WorkloadParameters { threads, ..WorkloadParameters::default() },
                jdk: jdk.clone(),
                collector,
                flags,
                tlab,
                warmup: if forks { 1 } else { workload.usual_warmup() },
            };
            let at = parameters([
                ("program", program.into()),
                ("collector", collector.name().into()),
                ("jdk", jdk.feature.into()),
                ("compared", if forks { "Terrace / stock" } else { "on / off" }.into()),
            ]);
            let (window, seconds) = if workload == Workload::Javac { (300, 30) } else { (100, 12) };
            cells.push(match forks {
                true => {
                    let sides = [Side::terrace(case.agent()), Side::stock()];
                    case.forks(bench, at, sides, 4, 6)
                }
                false => case.windows(bench, at, [Side::terrace, Side::off], window, seconds, None),
            });
        }
    }
    Ok(plan_of(bench, bench.effort.pick(1, 3), cells))
}

fn answer(measured: &Measured) -> String {
    let mut said = Vec::new();
    if let Some(speed) = measured.get("speed", &[("program", EVERYDAY.into())]) {
        said.push(format!("javac runs {} times as fast with the defaults", numbers::interval(&speed, "")));
    }
    let ratio = measured.median("collections_ratio", &[("program", SHORT_LIVED.into())]);
    if let Some(ratio) = ratio.filter(|ratio| *ratio > 0.0) {
        said.push(format!(
            "with a new thread for each task Terrace collects {:.0} times less often for the same number of tasks",
            1.0 / ratio
        ));
    }
    match said.as_slice() {
        [] => NO_ANSWER.into(),
        said => said.join("; ") + ".",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Quantity;
    use crate::experiment::fixture::{cell, conclude};

    #[test]
    fn the_answer_has_the_everyday_program_and_the_short_lived_threads() {
        let of =
            |program: &str, metrics: &[(&str, f64)]| cell(parameters([("program", program.into())]), metrics);
        // Collections are counted over all forks: one value.
        let mut once = of(SHORT_LIVED, &[]);
        once.metrics.insert("collections_ratio".into(), Quantity::of(vec![0.025], ""));
        let cells = [of(EVERYDAY, &[("speed", 1.02)]), once];
        let (answer, _) = conclude(&experiment(), &cells);
        assert!(
            answer.contains("1.02 [1.01, 1.03] times as fast") && answer.contains("40 times less"),
            "{answer}"
        );
        assert!(conclude(&experiment(), &[]).0.starts_with("It could not"));
    }
}
