//! JVMs that do a fixed amount of a workload: one, for what is nearly the same from run to run once the work is, such as collections; or
//! several at the same time, to compare what their work costs. That also serves JVMs that cannot be switched, such as one without us.
//!
//! Several at the same time share the CPUs: the scheduler alternates between them every few milliseconds, and whatever else happens on
//! the machine meets them alike. What they need of CPU time then differs far less than that of JVMs in turn.

use crate::Program;
use jvm::agent::AgentOptions;
use jvm::arrival::had_agent;
use jvm::cpu::{CpuTime, Threads};
use jvm::install::Install;
use jvm::observe::Jvms;
use jvm::progress_file::{Phase, ProgressFile};
use jvm::running::Running;
use jvm::workload::Report;
use jvm::{Error, Result};
use serde_json::Value;
use std::time::{Duration, Instant};

/// Reading the times of a JVM's threads takes a tenth of a millisecond.
const POLL: Duration = Duration::from_millis(20);

#[derive(Clone, Debug)]
pub struct FixedRun {
    /// What the workload says of itself.
    pub report: Report,
    /// Operations for each second of the application threads' own CPU time, as long as all JVMs that run at the same time measure.
    pub per_application_second: Option<f64>,
    /// The same for each second of the whole process's CPU time, collections included.
    pub per_cpu_second: Option<f64>,
    /// The agent's settings in force; `null` without an agent.
    pub settings: Value,
}

/// How one of several JVMs is run.
#[derive(Clone, Copy, Default)]
pub struct Fork<'a> {
    /// Its agent from its start on; `None` for a stock JVM.
    pub agent: Option<&'a AgentOptions>,
    /// What is done with it once, by its process id, while it warms up.
    pub visit: Option<Visit<'a>>,
}

/// What is done with a process.
pub type Visit<'a> = &'a dyn Fn(u32) -> Result<()>;

struct Reading {
    operations: u64,
    cpu: CpuTime,
}

/// A JVM at work, looked at again and again: with the agent and without it in the same way.
struct Watched<'a> {
    running: Running,
    jvms: Jvms,
    has_agent: bool,
    /// What is still to be done with it.
    visit: Option<Visit<'a>>,
    operations: ProgressFile,
    threads: Threads,
    first: Option<Reading>,
    last: Option<Reading>,
    ended: bool,
}

impl<'a> Watched<'a> {
    fn start(program: &Program, fork: Fork<'a>, flags: &[String], install: &Install) -> Result<Watched<'a>> {
        let mut jvms = Jvms::new()?;
        let mut all = Vec::new();
        if let Some(agent) = fork.agent {
            all.push(jvms.options(agent).flag(&install.agent()?)?);
        }
        all.extend(flags.iter().cloned());
        let file = jvms.directory().join("progress");
        let launch = program.launch(&all, Some(&file), None, install)?;
        let running = Running::start(&launch, false)?;
        let threads = Threads::of(running.pid());
        let (operations, has_agent, visit) = (ProgressFile::at(&file), fork.agent.is_some(), fork.visit);
        let (first, last, ended) = (None, None, false);
        Ok(Watched { running, jvms, has_agent, visit, operations, threads, first, last, ended })
    }

    /// What it is doing; makes the pending visit during the warm-up. An error where that is too short for it.
    fn attend(&mut self) -> Result<Phase> {
        let phase = self.phase()?;
        let Some(visit) = self.visit else { return Ok(phase) };
        let phase = match phase {
            Phase::Starting | Phase::Ready => return Ok(phase),
            Phase::WarmingUp => {
                self.visit = None;
                let visited = visit(self.running.pid());
                let phase = self.phase()?;
                // Of a JVM that has ended, its own words tell more.
                if phase != Phase::Finished {
                    visited?;
                }
                phase
            }
            Phase::Measuring | Phase::Finished => phase,
        };
        match phase {
            Phase::WarmingUp => Ok(phase),
            _ => {
                if self.ended {
                    self.running.check()?;
                }
                Err(Error::failed("the warm-up was shorter than what is done in it; increase --warmup"))
            }
        }
    }

    /// What it is doing: `Finished` if it has ended.
    fn phase(&mut self) -> Result<Phase> {
        self.ended = self.ended || self.running.poll()?.is_some();
        Ok(if self.ended { Phase::Finished } else { self.operations.phase() })
    }

    /// Reads what it has done so far.
    fn read(&mut self) {
        self.threads.refresh();
        let reading = self.reading();
        if self.first.is_none() {
            self.first = reading;
        } else {
            self.last = reading.or(self.last.take());
        }
    }

    fn reading(&mut self) -> Option<Reading> {
        Some(Reading { operations: self.operations.operations()?, cpu: self.threads.cpu()? })
    }

    fn finish(mut self) -> Result<FixedRun> {
        match self.has_agent {
            true => had_agent(&mut self.running, &mut self.jvms)?,
            false => self.running.check()?,
        }
        let report = Report::read(&self.running.output())?;
        let rate = |time: fn(&CpuTime) -> Duration| {
            let (first, last) = self.first.as_ref().zip(self.last.as_ref())?;
            let cpu = time(&last.cpu).saturating_sub(time(&first.cpu)).as_secs_f64();
            let done = last.operations.saturating_sub(first.operations) as f64;
            (cpu > 0.0 && done > 0.0).then_some(done / cpu)
        };
        Ok(FixedRun {
            report,
            per_application_second: rate(CpuTime::application),
            per_cpu_second: rate(|cpu| cpu.process),
            settings: self.jvms.settings(),
        })
    }
}

/// Runs a workload to its end, with this agent or without one. It fails after `limit`.
pub fn run(
    program: &Program,
    agent: Option<&AgentOptions>,
    flags: &[String],
    install: &Install,
    limit: Duration,
) -> Result<FixedRun> {
    let [run] = together(program, [Fork { agent, visit: None }], flags, install, limit)?;
    Ok(run)
}

/// Runs a workload to its end in several JVMs at the same time, each with its agent or without one. It fails after `limit`.
///
/// What is compared is what they did while all of them were measuring.
pub fn together<const COUNT: usize>(
    program: &Program,
    forks: [Fork; COUNT],
    flags: &[String],
    install: &Install,
    limit: Duration,
) -> Result<[FixedRun; COUNT]> {
    let mut watched = Vec::with_capacity(COUNT);
    for fork in forks {
        watched.push(Watched::start(program, fork, flags, install)?);
    }
    let since = Instant::now();
    while !watched.iter().all(|jvm| jvm.ended) {
        if since.elapsed() > limit {
            return Err(Error::failed(format!(
                "a run of fixed work did not end within {} s; use less work",
                limit.as_secs()
            )));
        }
        let phases = watched.iter_mut().map(Watched::attend).collect::<Result<Vec<_>>>()?;
        // While all are at work: one that is alone has the machine's caches for itself.
        if phases.iter().all(|phase| *phase == Phase::Measuring) {
            watched.iter_mut().for_each(Watched::read);
        } else {
            watched.iter_mut().for_each(|jvm| jvm.threads.refresh());
        }
        std::thread::sleep(POLL);
    }
    let runs: Vec<FixedRun> = watched.into_iter().map(Watched::finish).collect::<Result<_>>()?;
    <[FixedRun; COUNT]>::try_from(runs).map_err(|_| Error::failed("a JVM is missing"))
}
