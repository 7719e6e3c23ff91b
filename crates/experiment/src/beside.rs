//! Cells that compare ways of running a workload with a stock JVM: all of them do the same fixed work at the same time.
//!
//! The JVMs of a round share the CPUs, and the scheduler interleaves them; what is compared is work for each second of CPU time. JVMs
//! one after another differ by 12 % (`alloc`), because a machine's speed changes within seconds; those that run at the same time by 2 %. The order in
//! which they start differs from round to round. With one thread each, all of them are on one CPU, so that each has the same neighbours there: they
//! then differ by 0.5 %.

use super::bench::Bench;
use super::compared::{AROUND, Case};
use super::declaration::{Better, Metric};
use super::native::pin;
use super::plan::{Cell, Runner};
use super::sample::Sample;
use super::value::parameters;
use crate::{Error, Result};
use compare::Program;
use compare::fixed::{self, Fork};
use jvm::agent::AgentOptions;
use jvm::install::Install;
use jvm::workload::Parameters as WorkloadParameters;
use statistics::Interval;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(300);

/// What differs from a stock JVM.
pub struct Side {
    /// The key of what is compared by the CPU time of the application's threads.
    pub own: &'static str,
    /// The same by that of the whole process.
    pub all: &'static str,
    /// As it is called in headings.
    pub name: &'static str,
    /// The agent that it starts with.
    pub agent: fn() -> Option<AgentOptions>,
    /// What is done with its process while it warms up.
    pub visit: Option<fn(u32, &Install) -> Result<()>>,
}

/// Two ratios for each side: by the CPU time of the application's threads, then, of all sides, by that of whole processes.
pub fn metrics(sides: &[Side]) -> Vec<Metric> {
    let metric = |key, name: &str, time: &str, whose: &str| {
        let text = format!("work per second of CPU time{whose} with {name}, over that of a stock JVM");
        Metric::new(key, &format!("{name}{time}"), "ratio", Better::Higher, &text)
    };
    let own = sides.iter().map(|side| metric(side.own, side.name, "", " of the application's threads"));
    let all = sides.iter().map(|side| metric(side.all, side.name, ", all CPU time", ""));
    own.chain(all).collect()
}

/// A cell whose rounds run a stock JVM and these sides; `JVMS` is one more than there are sides.
pub fn cell<const JVMS: usize>(bench: &Bench, case: Case, sides: &'static [Side]) -> Cell {
    let at = parameters([
        ("workload", case.workload.name().into()),
        ("collector", case.collector.name().into()),
        ("jdk", case.jdk.feature.into()),
        ("threads", case.parameters.threads.unwrap_or_default().into()),
    ]);
    let fork = bench.wanted.seconds.unwrap_or(3);
    let seconds = (JVMS as u64 * (fork + case.warmup)) as f64 + AROUND;
    let runner = match case.flags() {
        Err(error) => Runner::Unavailable(error.to_string()),
        Ok(flags) => {
            let install = bench.install.clone();
            let (work, round) = (std::cell::Cell::new(None), std::cell::Cell::new(0));
            Runner::native(move || {
                let forks = Forks::<JVMS> { case: &case, flags: &flags, install: &install, sides };
                // The same in all rounds.
                let amount = work.get().map_or_else(|| forks.work(fork), Ok)?;
                work.set(Some(amount));
                // Each JVM starts first as often as the others.
                forks.round(amount, round.replace(round.get() + 1) % JVMS)
            })
        }
    };
    Cell { parameters: at, seconds, runner }
}

struct Forks<'a, const JVMS: usize> {
    case: &'a Case,
    flags: &'a [String],
    install: &'a Install,
    sides: &'static [Side],
}

impl<const JVMS: usize> Forks<'_, JVMS> {
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

    /// All JVMs at the same time, started in an order that begins with this one; 0 is the stock JVM.
    fn round(&self, work: u64, first: usize) -> Result<Sample> {
        let order = order::<JVMS>(first);
        let side_of = |at: usize| order[at].checked_sub(1).map(|side| &self.sides[side]);
        let agents: [_; JVMS] = std::array::from_fn(|at| side_of(at).and_then(|side| (side.agent)()));
        let visits: [_; JVMS] = std::array::from_fn(|at| {
            let visit = side_of(at)?.visit?;
            Some(move |pid| visit(pid, self.install))
        });
        // As much work as a JVM alone has for its compilers.
        let program = self.program(JVMS as u64 * self.case.warmup, Some(work), None);
        let together = || {
            let forks: [Fork; JVMS] = std::array::from_fn(|at| Fork {
                agent: agents[at].as_ref(),
                visit: visits[at].as_ref().map(|visit| visit as fixed::Visit),
            });
            fixed::together(&program, forks, self.flags, self.install, LIMIT)
        };
        // JVMs inherit the CPU of the thread that starts them.
        let runs = if self.case.parameters.threads == Some(1) { pin::alone(together)?? } else { together()? };
        let of = |jvm: usize| {
            let (_, run) = order.iter().zip(&runs).find(|(started, _)| **started == jvm)?;
            run.per_application_second.zip(run.per_cpu_second)
        };
        let short = || Error::failed("a fork was too short to be measured; increase --seconds");
        let stock = of(0).ok_or_else(short)?;
        let mut sample = Sample { processes: JVMS, ..Sample::default() };
        for (side, jvm) in self.sides.iter().zip(1..) {
            let rate = of(jvm).ok_or_else(short)?;
            sample = sample
                .estimate(side.own, Interval::exactly(rate.0 / stock.0))
                .estimate(side.all, Interval::exactly(rate.1 / stock.1));
        }
        Ok(sample)
    }
}

/// The order in which the JVMs of a round start, by their numbers; it begins with `first`.
fn order<const JVMS: usize>(first: usize) -> [usize; JVMS] {
    std::array::from_fn(|at| (first + at) % JVMS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_jvm_starts_once_in_a_round_and_first_in_its_turn() {
        for first in 0..4 {
            let mut started = order::<4>(first);
            assert_eq!(started[0], first);
            started.sort_unstable();
            assert_eq!(started, [0, 1, 2, 3]);
        }
    }
}
