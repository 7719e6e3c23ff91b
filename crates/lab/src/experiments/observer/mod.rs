//! `observer`: what the doctor's observer costs the JVM that it is in, and what is left when it has withdrawn: a stock JVM, one with the observer,
//! and one that had it while it warmed up, in forks of fixed work that run [at the same time](experiment::beside).

use crate::Result;
use experiment::beside::{self, Side};
use experiment::claim::OWN;
use experiment::compared::{Case, plan as plan_of, varying};
use experiment::{
    Bench, Claim, Declaration, Effort, Experiment, Kind, Measured, NO_ANSWER, Plan, Plot, Relation, Term,
};
use jvm::agent::{AgentOptions, Tlab};
use jvm::install::Install;
use jvm::jdk::Collector;
use jvm::observer::Observer;
use jvm::workload::{Parameters as WorkloadParameters, Workload};
use present::numbers;
use std::time::Duration;

const SIDES: [Side; 2] = [
    Side { own: "observed", all: "observed_all", name: "observer", agent: || Some(observing()), visit: None },
    Side { own: "left", all: "left_all", name: "observer gone", agent: || None, visit: Some(visit) },
];
const JVMS: usize = SIDES.len() + 1;
/// Half of an interval's width at which a cell ends, as a share.
const PRECISION: f64 = 0.005;
/// What all cells together, and each of them, may differ by and be called the same.
const SAME: [f64; 2] = [1.01, 1.02];
/// How long a visitor observes.
const VISIT: Duration = Duration::from_secs(1);
const COLLECTORS: [Collector; 3] = [Collector::Serial, Collector::Parallel, Collector::G1];
/// A small eden: the observer inspects TLABs at collections. JDK 21 and later warn of agents that are loaded dynamically.
const FLAGS: &[&str] = &["-Xms256m", "-Xmx256m", "-Xmn128m", "-XX:+EnableDynamicAgentLoading"];

/// What `terrace doctor` has an observer do.
fn observing() -> AgentOptions {
    AgentOptions { times: true, ..AgentOptions::observing() }
}

/// An observer comes, counts, and leaves.
fn visit(pid: u32, install: &Install) -> Result<()> {
    let observer = Observer::attach(pid, install, |_| ())?;
    std::thread::sleep(VISIT);
    observer.withdraw()
}

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims, answer)
}

fn declaration() -> Declaration {
    Declaration {
        name: "observer".into(),
        title: "The doctor's observer compared with a stock JVM".into(),
        question: "What does an observer cost a JVM, and what is left when it has withdrawn?".into(),
        parameters: varying(&["workload", "collector", "jdk", "threads"]),
        metrics: beside::metrics(&SIDES),
        plots: vec![
            Plot::new(Kind::Bars, "observer / stock, per CPU-second", "observed", "workload", &["collector"])
                .panels(&["jdk"]),
        ],
        by_name: true,
        ..Declaration::default()
    }
}

/// One thread each, so that all are on one CPU. Quick: the newest JDK with G1.
fn plan(bench: &Bench) -> Result<Plan> {
    let mut cells = Vec::new();
    for jdk in bench.chosen_jdks() {
        for (workload, warmup) in [(Workload::Alloc, 2), (Workload::Churn, 2), (Workload::Javac, 8)] {
            for collector in COLLECTORS {
                if bench.effort == Effort::Full || collector == Collector::G1 {
                    let parameters = WorkloadParameters { threads: Some(1), ..Default::default() };
                    let (jdk, tlab, warmup) = (jdk.clone(), Tlab::Auto, bench.warmup(warmup));
                    let case = Case { workload, parameters, jdk, collector, flags: FLAGS, tlab, warmup };
                    cells.push(beside::cell::<JVMS>(bench, case, &SIDES));
                }
            }
        }
    }
    let plan = plan_of(bench, bench.effort.pick(4, 14), cells);
    Ok(Plan { precision: Some(PRECISION), ..plan })
}

fn claims(_: &Measured) -> Vec<Claim> {
    let [mean, worst, best] = [
        |key| Term::metric("on average", key).mean(),
        |key| Term::metric("at worst", key).lowest(),
        |key| Term::metric("at best", key).highest(),
    ];
    let [together, each] = SAME;
    vec![
        Claim::new("an observer costs 1 % of the work on average, and 2 % at most", OWN)
            .that(mean("observed").is(Relation::AtLeast(1.0 / together), 1.0))
            .that(worst("observed").is(Relation::AtLeast(1.0 / each), 1.0)),
        Claim::new("a JVM whose observer has withdrawn performs like a stock JVM, within 1 % on average and 2 % at most", OWN)
            .that(mean("left").is(Relation::Alike(together), 1.0))
            .that(worst("left").is(Relation::Alike(each), 1.0))
            .that(best("left").is(Relation::Alike(each), 1.0)),
    ]
}

fn answer(measured: &Measured) -> String {
    let mean = |key| Term::metric("", key).mean().of(measured).map(|found| found.interval);
    match mean(SIDES[0].own).zip(mean(SIDES[1].own)) {
        Some((observed, left)) => format!(
            "Per CPU-second, {} times the work of a stock JVM with an observer, {} when it has withdrawn.",
            numbers::interval(&observed, ""),
            numbers::interval(&left, "")
        ),
        None => NO_ANSWER.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::fixture::{cell, conclude, holds};
    use experiment::{Quantity, parameters};

    #[test]
    fn one_is_observed_while_it_is_measured_and_the_other_before() {
        let [observed, left] = SIDES;
        let options = (observed.agent)().unwrap();
        assert!(options.observes() && options.times && observed.visit.is_none());
        assert!((left.agent)().is_none() && left.visit.is_some());
    }

    #[test]
    fn a_cost_of_more_than_a_hundredth_and_whatever_is_left_is_reported() {
        let near = |value: f64| Quantity::of([0.999, 1.0, 1.001].map(|factor| value * factor).into(), "");
        let told = |observed, left| {
            let mut of = cell(parameters([("workload", "alloc".into())]), &[]);
            of.metrics = [("observed", observed), ("left", left)]
                .map(|(key, value)| (key.to_owned(), near(value)))
                .into();
            holds(&conclude(&experiment(), &[of]).1)
        };
        assert_eq!(told(0.995, 1.0), [Some(true), Some(true)]);
        assert_eq!(told(0.98, 0.98), [Some(false), Some(false)]);
        assert_eq!(told(1.02, 1.02), [Some(true), Some(false)], "what is left makes nothing faster either");
        assert!(conclude(&experiment(), &[]).0 == NO_ANSWER);
    }
}
