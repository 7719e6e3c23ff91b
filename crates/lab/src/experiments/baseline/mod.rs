//! `baseline`: whether buffers off are a stock JVM: stock, `start=off`, `levels=none` and on, in forks of fixed work that run at the same
//! time.
//!
//! The four JVMs of a round share the CPUs, and the scheduler interleaves them; what is compared is work for each second of CPU time. JVMs
//! in turn differ by 12 % (`alloc`), because a machine's speed changes within seconds; those that run at the same time by 2 %. The order in
//! which they start differs from round to round. With one thread each, all of them are on one CPU, so that each has the same neighbours there: they
//! then differ by 0.5 %.

use super::matrix::COLLECTORS;
use crate::{Error, Result};
use compare::Program;
use compare::fixed;
use experiment::claim::OWN;
use experiment::compared::{AROUND, Case, plan as plan_of, varying};
use experiment::native::pin;
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

/// What is compared with stock: each second of the application threads' CPU time, and of the whole JVM's.
const SIDES: [(&str, &str); 3] = [("off", "off_all"), ("none", "none_all"), ("on", "on_all")];
/// All sides.
const JVMS: usize = SIDES.len() + 1;
const LIMIT: Duration = Duration::from_secs(300);
/// How much longer a JVM takes than alone, with three others on two CPUs.
const SHARED: u64 = 4;
/// Half of an interval's width at which a cell ends, as a share.
const PRECISION: f64 = 0.01;
/// What a JVM may differ by and be called the same, as a share.
const SAME: f64 = 0.02;

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
    let metric = |(index, key): (usize, &str), time: &str, whose| {
        let name = format!("{}{time}", names[index]);
        let text =
            format!("work per second of CPU time{whose} with {}, over that of a stock JVM", names[index]);
        Metric::new(key, &name, "ratio", Better::Higher, &text)
    };
    let own = SIDES
        .iter()
        .enumerate()
        .map(|(index, (own, _))| metric((index, own), "", " of the application's threads"));
    let all = SIDES.iter().enumerate().map(|(index, (_, all))| metric((index, all), ", all CPU time", ""));
    Declaration {
        name: "baseline".into(),
        title: "Buffers off compared with a stock JVM".into(),
        question: "Does a JVM with buffers off perform like a stock JVM?".into(),
        parameters: varying(&["workload", "collector", "jdk", "threads"]),
        metrics: own.chain(all).collect(),
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

/// A heap that the workload fills in a second or so, and small: there are four of them at the same time.
const fn heap(workload: Workload, threads: u32) -> &'static [&'static str] {
    match (workload, threads) {
        (Workload::Churn, _) => &["-Xms512m", "-Xmx512m", "-Xmn256m"],
        (Workload::Javac, 16) => &["-Xmx2g", "-Xmn700m"],
        _ => &["-Xms1g", "-Xmx1g", "-Xmn512m"],
    }
}

fn cell(bench: &Bench, case: Case) -> Cell {
    let at = parameters([
        ("workload", case.workload.name().into()),
        ("collector", case.collector.name().into()),
        ("jdk", case.jdk.feature.into()),
        ("threads", case.parameters.threads.unwrap_or_default().into()),
    ]);
    let fork = bench.wanted.seconds.unwrap_or(3);
    let seconds = (SHARED * (fork + case.warmup)) as f64 + AROUND;
    let runner = match case.flags() {
        Err(error) => Runner::Unavailable(error.to_string()),
        Ok(flags) => {
            let install = bench.install.clone();
            let (work, round) = (std::cell::Cell::new(None), std::cell::Cell::new(0));
            Runner::native(move || {
                let forks = Forks { case: &case, flags: &flags, install: &install };
                // The same in all rounds.
                let amount = work.get().map_or_else(|| forks.work(fork), Ok)?;
                work.set(Some(amount));
                // Each side starts first in turn.
                forks.round(amount, round.replace(round.get() + 1) % JVMS)
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
    fn program(&self, warmup: u64, work: Option<u64>, seconds: Option<u64>) -> Program {
        let warmup = Some(warmup);
        let parameters = WorkloadParameters { warmup, work, seconds, ..self.case.parameters.clone() };
        Program::Workload(self.case.workload, parameters, self.case.jdk.clone())
    }

    /// So many seconds of work, by the speed of a first fork.
    fn work(&self, seconds: u64) -> Result<u64> {
        let program = self.program(self.case.warmup, None, Some(seconds));
        let first = fixed::run(&program, None, self.flags, self.install, LIMIT)?.report;
        Ok((first.operations / first.seconds * seconds as f64).max(1.0) as u64)
    }

    /// All sides at the same time, started in an order that begins with this side.
    fn round(&self, work: u64, first: usize) -> Result<Sample> {
        let agents: [_; JVMS] = std::array::from_fn(|at| agent((first + at) % JVMS));
        // As much work as a JVM alone has for its compilers.
        let program = self.program(SHARED * self.case.warmup, Some(work), None);
        let together = || {
            let agents = agents.each_ref().map(Option::as_ref);
            fixed::together(&program, agents, self.flags, self.install, LIMIT)
        };
        // JVMs inherit the CPU of the thread that starts them.
        let runs = if self.case.parameters.threads == Some(1) { pin::alone(together)?? } else { together()? };
        let of = |side: usize| {
            let run = &runs[(side + JVMS - first) % JVMS];
            run.per_application_second
                .zip(run.per_cpu_second)
                .ok_or_else(|| Error::failed("a fork was too short to be measured; increase --seconds"))
        };
        let stock = of(0)?;
        let mut sample = Sample { processes: JVMS, ..Sample::default() };
        for (side, (own, all)) in SIDES.into_iter().enumerate() {
            let rate = of(side + 1)?;
            sample = sample
                .estimate(own, Interval::exactly(rate.0 / stock.0))
                .estimate(all, Interval::exactly(rate.1 / stock.1));
        }
        Ok(sample)
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
        assert_eq!(holds(&conclude(&experiment(), &[of("alloc", 1.0), of("churn", 1.005)]).1), [Some(true)]);
        assert_eq!(holds(&conclude(&experiment(), &[of("alloc", 1.0), of("churn", 1.05)]).1), [Some(false)]);
    }
}
