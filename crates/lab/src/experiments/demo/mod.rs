//! `demo`: a few programs, what everyday ones see first, and the flag that a user would try without Terrace.

use crate::Result;
use compare::words;
use experiment::compared::{Case, metrics, plan as plan_of, varying};
use experiment::{Bench, Declaration, Experiment, Kind, Measured, NO_ANSWER, Plan, Plot, parameters};
use jvm::agent::Tlab;
use jvm::jdk::Collector::{self, G1, Parallel};
use jvm::workload::{Lengths, Parameters as WorkloadParameters, Workload};
use present::numbers;

const EVERYDAY: &str = "javac, defaults";
const SHORT_LIVED: &str = "thread for each task, defaults";
/// Where the flag might fall short: a new thread keeps its 4 KB until the next collection, and of these a hundred and one the busy one
/// allocates a thousand times that. Whether that is seen is what these rows are for.
const MIXED: &str = "mixed tasks, defaults";
const MIXED_TASKS: &str = "4m,4kx100";
const TLAB_1K: &str = "only allocation, 1 KB TLABs";
const STOCK: &str = "Terrace / stock";

/// What is compared: its name, and the sides.
type Compared = (&'static str, [&'static str; 2]);
const ON_OFF: Compared = ("on / off", ["terrace", "off"]);
const AGAINST_STOCK: Compared = (STOCK, ["terrace", "stock"]);
/// The flag that a user would try without Terrace.
const AGAINST_FLAG: Compared = ("Terrace / TLABSize=4k", ["terrace", "-XX:TLABSize=4k"]);
/// A stock JVM, which sizes its TLABs itself.
const AGAINST_OWN_SIZES: Compared = ("Terrace / HotSpot's sizes", ["terrace", "stock"]);
const FLAG_AGAINST_STOCK: Compared = ("TLABSize=4k / stock", ["-XX:TLABSize=4k", "stock"]);

struct Row {
    program: &'static str,
    workload: Workload,
    collector: Collector,
    tlab: Tlab,
    flags: &'static [&'static str],
    compared: Compared,
    /// Bytes of tasks in turn.
    tasks: Option<&'static str>,
}

const ROWS: [Row; 10] = [
    row(EVERYDAY, Workload::Javac, Parallel, Tlab::Auto, &["-Xmx2g"], ON_OFF),
    row("javac, 4 KB TLABs", Workload::Javac, Parallel, Tlab::Bytes(4 << 10), &["-Xmx2g"], ON_OFF),
    small(Parallel, ON_OFF),
    small(G1, ON_OFF),
    small(Parallel, AGAINST_OWN_SIZES),
    row(SHORT_LIVED, Workload::Churn, Parallel, Tlab::Auto, &["-Xmx512m"], AGAINST_STOCK),
    row(SHORT_LIVED, Workload::Churn, Parallel, Tlab::Auto, &["-Xmx512m"], AGAINST_FLAG),
    row(SHORT_LIVED, Workload::Churn, Parallel, Tlab::Auto, &["-Xmx512m"], FLAG_AGAINST_STOCK),
    mixed(AGAINST_FLAG),
    mixed(AGAINST_STOCK),
];

const fn small(collector: Collector, compared: Compared) -> Row {
    let flags = &["-Xms2g", "-Xmx2g", "-Xmn1g"];
    row(TLAB_1K, Workload::Alloc, collector, Tlab::Bytes(1 << 10), flags, compared)
}

const fn mixed(compared: Compared) -> Row {
    let flags = &["-Xmx512m"];
    Row { tasks: Some(MIXED_TASKS), ..row(MIXED, Workload::Churn, Parallel, Tlab::Auto, flags, compared) }
}

const fn row(
    program: &'static str,
    workload: Workload,
    collector: Collector,
    tlab: Tlab,
    flags: &'static [&'static str],
    compared: Compared,
) -> Row {
    Row { program, workload, collector, tlab, flags, compared, tasks: None }
}

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
                    "Above 1 the side before the slash is faster; an interval that includes 1 means no significant difference.",
                ),
        ],
        by_name: true,
        ..Declaration::default()
    }
}

fn plan(bench: &Bench) -> Result<Plan> {
    let mut cells = Vec::new();
    for jdk in bench.chosen_jdks() {
        for Row { program, workload, collector, tlab, flags, compared: (compared, sides), tasks } in ROWS {
            // A thread for each task has its own number of them.
            let churn = workload == Workload::Churn;
            let threads = (!churn).then_some(2);
            let case = Case {
                workload,
                parameters: WorkloadParameters {
                    threads,
                    lengths: tasks.map(|tasks| Lengths::List(tasks.into())),
                    ..WorkloadParameters::default()
                },
                jdk: jdk.clone(),
                collector,
                flags,
                tlab,
                warmup: if churn { 1 } else { workload.usual_warmup() },
            };
            let at = parameters([
                ("program", program.into()),
                ("collector", collector.name().into()),
                ("jdk", jdk.feature.into()),
                ("compared", compared.into()),
            ]);
            let (window, seconds) = if workload == Workload::Javac { (300, 30) } else { (100, 12) };
            let sides = words::sides(sides, &case.agent())?;
            let [a, b] = &sides;
            cells.push(match a.shares_jvm(b) {
                true => case.windows(bench, at, sides, window, seconds, None),
                false => case.forks(bench, at, sides, 3, 6),
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
    let ratio =
        measured.median("collections_ratio", &[("program", SHORT_LIVED.into()), ("compared", STOCK.into())]);
    if let Some(ratio) = ratio.filter(|ratio| *ratio > 0.0) {
        said.push(format!(
            "with a new thread per task, Terrace collects {:.0} times less often for the same number of tasks",
            1.0 / ratio
        ));
    }
    let against_flag = [("program", MIXED.into()), ("compared", AGAINST_FLAG.0.into())];
    if let Some(speed) = measured.get("speed", &against_flag) {
        said.push(format!(
            "where one of a hundred short-lived threads is busy, Terrace is {} times as fast as -XX:TLABSize=4k",
            numbers::interval(&speed, "")
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
    use experiment::Quantity;
    use experiment::fixture::{cell, conclude};
    use jvm::agent::AgentOptions;

    #[test]
    fn the_answer_has_the_everyday_program_and_the_short_lived_threads() {
        let of = |program: &str, compared: &str, metrics: &[(&str, f64)]| {
            cell(parameters([("program", program.into()), ("compared", compared.into())]), metrics)
        };
        // Collections are counted over all forks: one value.
        let once = |compared: &str, ratio: f64| {
            let mut once = of(SHORT_LIVED, compared, &[]);
            once.metrics.insert("collections_ratio".into(), Quantity::of(vec![ratio], ""));
            once
        };
        let everyday = of(EVERYDAY, ON_OFF.0, &[("speed", 1.02)]);
        let mixed = of(MIXED, AGAINST_FLAG.0, &[("speed", 1.2)]);
        let cells = [everyday, once(STOCK, 0.025), once(AGAINST_FLAG.0, 1.0), mixed];
        let (answer, _) = conclude(&experiment(), &cells);
        assert!(
            answer.contains("1.02 [1.01, 1.03] times as fast") && answer.contains("40 times less"),
            "{answer}"
        );
        assert!(answer.contains("1.20 [1.19, 1.21] times as fast as -XX:TLABSize=4k"), "{answer}");
        assert_eq!(conclude(&experiment(), &[]).0, NO_ANSWER);
    }

    #[test]
    fn only_what_one_jvm_cannot_be_is_compared_in_forks() {
        for Row { compared, tlab, .. } in ROWS {
            let agent = AgentOptions { tlab, ..AgentOptions::default() };
            let [a, b] = words::sides(compared.1, &agent).unwrap();
            assert_eq!(a.shares_jvm(&b), compared == ON_OFF, "{compared:?}");
        }
    }
}
