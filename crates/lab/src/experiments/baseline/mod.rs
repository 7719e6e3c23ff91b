//! `baseline`: whether buffers off are a stock JVM: stock, `start=off`, `levels=none` and on, in interleaved forks of fixed work.
//!
//! A round is A B C D D C B A. The work of all forks is the same, and what is compared is work for each second of the application
//! threads' own CPU time. Forks differ by more than windows in one JVM do, so it takes many rounds.

use super::matrix::COLLECTORS;
use crate::{Error, Result};
use compare::Program;
use compare::fixed::{self, FixedRun};
use experiment::claim::OWN;
use experiment::compared::{AROUND, Case, plan as plan_of, varying};
use experiment::{
    Bench, Better, Cell, Claim, Declaration, Effort, Experiment, Kind, Measured, Metric, NO_ANSWER, Plan,
    Plot, Relation, Runner, Sample, Term, parameters,
};
use jvm::agent::{AgentOptions, Levels, Tlab};
use jvm::install::Install;
use jvm::jdk::Collector;
use jvm::workload::{Parameters as WorkloadParameters, Workload};
use present::numbers;
use statistics::Interval;
use std::time::Duration;

/// Stock, and beside it the sides that are compared with it: each second of CPU time, and of time.
const SIDES: [(&str, &str); 3] = [("off", "off_wall"), ("none", "none_wall"), ("on", "on_wall")];
const LIMIT: Duration = Duration::from_secs(300);
/// Half of an interval's width at which a cell ends, as a share.
const PRECISION: f64 = 0.02;

fn agent(side: usize) -> Option<AgentOptions> {
    match side {
        0 => None,
        1 => Some(AgentOptions { start_off: true, ..AgentOptions::default() }),
        2 => Some(AgentOptions { levels: Some(Levels::None), ..AgentOptions::default() }),
        _ => Some(AgentOptions::default()),
    }
}

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims, answer)
}

fn declaration() -> Declaration {
    let names = ["start=off", "levels=none", "on"];
    let metric = |(index, key): (usize, &str), time: &str, what| {
        let name = format!("{}{time}", names[index]);
        let text = format!("work per second{what} of a JVM with {}, over that of a stock JVM", names[index]);
        Metric::new(key, &name, "ratio", Better::Higher, &text)
    };
    let cpu = SIDES
        .iter()
        .enumerate()
        .map(|(index, (cpu, _))| metric((index, cpu), "", " of its application threads' CPU time"));
    let wall = SIDES.iter().enumerate().map(|(index, (_, wall))| metric((index, wall), ", wall time", ""));
    Declaration {
        name: "baseline".into(),
        title: "Buffers off compared with a stock JVM".into(),
        question: "Does a JVM with buffers off perform like a stock JVM?".into(),
        parameters: varying(&["workload", "collector", "jdk", "threads"]),
        metrics: cpu.chain(wall).collect(),
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
        for (workload, warmup, flags) in [
            (Workload::Alloc, 1, &["-Xms1g", "-Xmx1g", "-Xmn512m"]),
            (Workload::Churn, 1, &["-Xms512m", "-Xmx512m", "-Xmn256m"]),
            (Workload::Javac, 8, &["-Xms3g", "-Xmx3g", "-Xmn1g"]),
        ] {
            for collector in COLLECTORS {
                for threads in [2, 16] {
                    if bench.effort == Effort::Full || collector == Collector::Parallel && threads == 2 {
                        let parameters = WorkloadParameters { threads: Some(threads), ..Default::default() };
                        let (jdk, tlab) = (jdk.clone(), Tlab::Auto);
                        cells.push(cell(
                            bench,
                            Case { workload, parameters, jdk, collector, flags, tlab, warmup },
                        ));
                    }
                }
            }
        }
    }
    let plan = plan_of(bench, bench.effort.pick(4, 14), cells);
    Ok(Plan { precision: Some(PRECISION), ..plan })
}

fn cell(bench: &Bench, case: Case) -> Cell {
    let at = parameters([
        ("workload", case.workload.name().into()),
        ("collector", case.collector.name().into()),
        ("jdk", case.jdk.feature.into()),
        ("threads", case.parameters.threads.unwrap_or_default().into()),
    ]);
    let fork = bench.wanted.seconds.unwrap_or(3);
    let seconds = 8.0 * ((fork + case.warmup) as f64 + AROUND);
    let runner = match case.flags() {
        Err(error) => Runner::Unavailable(error.to_string()),
        Ok(flags) => {
            let (install, work) = (bench.install.clone(), std::cell::Cell::new(None));
            Runner::native(move || {
                let forks = Forks { case: &case, flags: &flags, install: &install };
                // The same in all rounds.
                let amount = work.get().map_or_else(|| forks.work(fork), Ok)?;
                work.set(Some(amount));
                forks.round(amount)
            })
        }
    };
    Cell { parameters: at, seconds, runner }
}

struct Forks<'a> {
    case: &'a Case,
    flags: &'a [String],
    install: &'a Install,
}

impl Forks<'_> {
    fn one(&self, side: usize, work: Option<u64>, seconds: Option<u64>) -> Result<FixedRun> {
        let warmup = Some(self.case.warmup);
        let parameters = WorkloadParameters { warmup, work, seconds, ..self.case.parameters.clone() };
        let program = Program::Workload(self.case.workload, parameters, self.case.jdk.clone());
        fixed::run(&program, agent(side).as_ref(), self.flags, self.install, LIMIT)
    }

    /// So many seconds of work, by the speed of a first fork.
    fn work(&self, seconds: u64) -> Result<u64> {
        let first = self.one(0, None, Some(seconds))?.report;
        Ok((first.operations / first.seconds * seconds as f64).max(1.0) as u64)
    }

    fn round(&self, work: u64) -> Result<Sample> {
        let mut sums = [[0.0; 2]; 4];
        for side in [0, 1, 2, 3, 3, 2, 1, 0] {
            let run = self.one(side, Some(work), None)?;
            let rate = run
                .per_application_second
                .ok_or_else(|| Error::failed("a fork was too short to be measured; increase --seconds"))?;
            sums[side][0] += rate.ln() / 2.0;
            sums[side][1] += (run.report.operations / run.report.seconds).ln() / 2.0;
        }
        let mut sample = Sample { processes: 8, ..Sample::default() };
        for (side, (cpu, wall)) in SIDES.into_iter().enumerate() {
            for (metric, number) in [(cpu, 0), (wall, 1)] {
                let ratio = (sums[side + 1][number] - sums[0][number]).exp();
                sample = sample.estimate(metric, Interval::exactly(ratio));
            }
        }
        Ok(sample)
    }
}

fn claims(_: &Measured) -> Vec<Claim> {
    let (worst, best) =
        (Term::metric("at worst", SIDES[0].0).lowest(), Term::metric("at best", SIDES[0].0).highest());
    let same = Relation::Alike(1.0 + 2.0 * PRECISION);
    vec![
        Claim::new("with buffers off a JVM performs like a stock JVM, within 4 %", OWN)
            .that(worst.is(same, 1.0))
            .that(best.is(same, 1.0)),
    ]
}

fn answer(measured: &Measured) -> String {
    let mean = |key| Term::metric("", key).mean().of(measured).map(|found| found.interval);
    match mean(SIDES[0].0).zip(mean(SIDES[2].0)) {
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

    #[test]
    fn sides_are_what_their_names_say() {
        assert!(agent(0).is_none());
        assert!(agent(1).unwrap().start_off && agent(1).unwrap().levels() == Levels::Core);
        assert_eq!(agent(2).unwrap().levels(), Levels::None);
        assert_eq!(agent(3).unwrap(), AgentOptions::default());
    }

    #[test]
    fn off_is_stock_when_it_is_neither_slower_nor_faster() {
        let of = |workload: &str, off| {
            cell(parameters([("workload", workload.into())]), &[("off", off), ("none", 1.0), ("on", 1.0)])
        };
        assert_eq!(holds(&conclude(&experiment(), &[of("alloc", 1.0), of("churn", 1.01)]).1), [Some(true)]);
        assert_eq!(holds(&conclude(&experiment(), &[of("alloc", 1.0), of("churn", 1.1)]).1), [Some(false)]);
    }
}
