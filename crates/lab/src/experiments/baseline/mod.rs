//! `baseline`: whether buffers off are a stock JVM: stock, `start=off`, `levels=none` and on, in forks of fixed work that run
//! [at the same time](experiment::beside).

use super::matrix::COLLECTORS;
use crate::Result;
use experiment::beside::{self, Side};
use experiment::claim::OWN;
use experiment::compared::{Case, plan as plan_of, varying};
use experiment::{
    Bench, Claim, Declaration, Effort, Experiment, Kind, Measured, NO_ANSWER, Plan, Plot, Relation, Term,
};
use jvm::agent::{AgentOptions, Levels, Tlab};
use jvm::jdk::Collector;
use jvm::workload::{Parameters as WorkloadParameters, Workload};
use present::numbers;

/// What is compared with a stock JVM.
const SIDES: [Side; 3] = [
    Side { own: "off", all: "off_all", name: "start=off", agent: || Some(off()), visit: None },
    Side { own: "none", all: "none_all", name: "levels=none", agent: || Some(counting()), visit: None },
    Side { own: "on", all: "on_all", name: "on", agent: || Some(AgentOptions::default()), visit: None },
];
const JVMS: usize = SIDES.len() + 1;
/// Half of an interval's width at which a cell ends, as a share.
const PRECISION: f64 = 0.01;
/// What a JVM may differ by and be called the same, as a share.
const SAME: f64 = 0.02;

fn off() -> AgentOptions {
    AgentOptions { start_off: true, ..AgentOptions::default() }
}

fn counting() -> AgentOptions {
    AgentOptions { levels: Some(Levels::None), ..AgentOptions::default() }
}

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims, answer)
}

fn declaration() -> Declaration {
    Declaration {
        name: "baseline".into(),
        title: "Buffers off compared with a stock JVM".into(),
        question: "Does a JVM with buffers off perform like a stock JVM?".into(),
        parameters: varying(&["workload", "collector", "jdk", "threads"]),
        metrics: beside::metrics(&SIDES),
        plots: vec![
            Plot::new(Kind::Bars, "start=off / stock, per CPU-second", "off", "workload", &["threads"])
                .panels(&["collector", "jdk"]),
        ],
        by_name: true,
        ..Declaration::default()
    }
}

/// Quick: the newest JDK with Parallel and two threads.
fn plan(bench: &Bench) -> Result<Plan> {
    let mut cells = Vec::new();
    for jdk in bench.chosen_jdks() {
        for (workload, warmup) in [(Workload::Alloc, 1), (Workload::Churn, 1), (Workload::Javac, 8)] {
            let warmup = bench.warmup(warmup);
            for collector in COLLECTORS {
                for threads in [1, 2, 16] {
                    if bench.effort == Effort::Full || collector == Collector::Parallel && threads == 2 {
                        let parameters = WorkloadParameters { threads: Some(threads), ..Default::default() };
                        let (jdk, tlab, flags) = (jdk.clone(), Tlab::Auto, heap(workload, threads));
                        let case = Case { workload, parameters, jdk, collector, flags, tlab, warmup };
                        cells.push(beside::cell::<JVMS>(bench, case, &SIDES));
                    }
                }
            }
        }
    }
    let plan = plan_of(bench, bench.effort.pick(4, 14), cells);
    Ok(Plan { precision: Some(PRECISION), ..plan })
}

/// A heap that the workload fills in a second or so, and small: there are four of them at the same time.
const fn heap(workload: Workload, threads: u32) -> &'static [&'static str] {
    match (workload, threads) {
        (Workload::Churn, _) => &["-Xms512m", "-Xmx512m", "-Xmn256m"],
        (Workload::Javac, 16) => &["-Xmx2g", "-Xmn700m"],
        _ => &["-Xms1g", "-Xmx1g", "-Xmn512m"],
    }
}

fn claims(_: &Measured) -> Vec<Claim> {
    let same = Relation::Alike(1.0 + SAME);
    let claim =
        Claim::new("a JVM with the agent and no buffers on performs like a stock JVM, within 2 %", OWN);
    let sides = ["off", "none"].map(|key| {
        let (worst, best) = (Term::metric("at worst", key).lowest(), Term::metric("at best", key).highest());
        [worst.is(same, 1.0), best.is(same, 1.0)]
    });
    vec![sides.into_iter().flatten().fold(claim, Claim::that)]
}

fn answer(measured: &Measured) -> String {
    let mean = |side: &Side| Term::metric("", side.own).mean().of(measured).map(|found| found.interval);
    match mean(&SIDES[0]).zip(mean(&SIDES[2])) {
        Some((off, on)) => format!(
            "Per CPU-second, {} times the work of a stock JVM with buffers off, {} with buffers on.",
            numbers::interval(&off, ""),
            numbers::interval(&on, "")
        ),
        None => NO_ANSWER.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::fixture::{cell, conclude, holds};
    use experiment::parameters;

    #[test]
    fn sides_are_what_their_names_say() {
        let [off, none, on] = SIDES.map(|side| (side.agent)().unwrap());
        assert!(off.start_off && off.levels() == Levels::Core);
        assert_eq!(none.levels(), Levels::None);
        assert_eq!(on, AgentOptions::default());
    }

    #[test]
    fn off_is_stock_when_it_is_neither_slower_nor_faster() {
        let of = |workload: &str, off| {
            cell(parameters([("workload", workload.into())]), &[("off", off), ("none", 1.0), ("on", 1.0)])
        };
        assert_eq!(holds(&conclude(&experiment(), &[of("alloc", 1.0), of("churn", 1.005)]).1), [Some(true)]);
        assert_eq!(holds(&conclude(&experiment(), &[of("alloc", 1.0), of("churn", 1.05)]).1), [Some(false)]);
    }
}
