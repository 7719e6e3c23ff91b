//! One JVM that does a fixed amount of a workload: for what is nearly the same from run to run once the work is, such as
//! collections, and for JVMs that cannot be switched, such as one without us.

use crate::Program;
use jvm::agent::AgentOptions;
use jvm::arrival::had_agent;
use jvm::cpu::{CpuTime, Threads};
use jvm::install::Install;
use jvm::observe::Jvms;
use jvm::progress_file::{Phase, ProgressFile};
use jvm::running::Running;
use jvm::workload::Report;
use jvm::{Error, Result, os};
use serde_json::Value;
use std::time::{Duration, Instant};

/// Reading the times of a JVM's threads takes a tenth of a millisecond.
const POLL: Duration = Duration::from_millis(20);

#[derive(Clone, Debug)]
pub struct FixedRun {
    /// What the workload says of itself.
    pub report: Report,
    /// Operations for each second of the application threads' own CPU time, from the moment that measuring began.
    pub per_application_second: Option<f64>,
    /// The agent's settings in force; `null` without an agent.
    pub settings: Value,
}

struct Reading {
    at: Duration,
    operations: u64,
    cpu: CpuTime,
}

fn reading(operations: &ProgressFile, threads: &mut Threads) -> Option<Reading> {
    Some(Reading { at: os::monotonic(), operations: operations.operations()?, cpu: threads.cpu()? })
}

/// Runs a workload to its end, with this agent or without one. It fails after `limit`.
pub fn run(
    program: &Program,
    agent: Option<&AgentOptions>,
    flags: &[String],
    install: &Install,
    limit: Duration,
) -> Result<FixedRun> {
    let mut jvms = Jvms::new()?;
    let mut all = Vec::new();
    if let Some(agent) = agent {
        all.push(jvms.options(agent).flag(&install.agent()?)?);
    }
    all.extend(flags.iter().cloned());
    let file = jvms.directory().join("progress");
    let launch = program.launch(&all, Some(&file), None, install)?;
    let mut running = Running::start(&launch, false)?;
    let mut operations = ProgressFile::at(&file);
    let mut threads = Threads::of(running.pid());
    let (mut first, mut last): (Option<Reading>, Option<Reading>) = (None, None);
    let since = Instant::now();
    // With the agent and without it we do the same while it runs.
    while running.wait(POLL)?.is_none() {
        if since.elapsed() > limit {
            return Err(Error::failed(format!(
                "a run of fixed work did not end within {} s; use less work",
                limit.as_secs()
            )));
        }
        match operations.phase() {
            Phase::Starting | Phase::WarmingUp => threads.refresh(),
            Phase::Measuring if first.is_none() => {
                threads.refresh();
                first = reading(&operations, &mut threads);
            }
            Phase::Measuring => {
                threads.refresh();
                last = reading(&operations, &mut threads).or(last);
            }
            Phase::Finished => {}
        }
    }
    match agent {
        Some(_) => had_agent(&mut running, &mut jvms)?,
        None => running.check()?,
    }
    let report = Report::read(&running.output())?;
    let per_application_second = first.zip(last).and_then(|(first, last)| {
        let cpu = last.cpu.application().saturating_sub(first.cpu.application()).as_secs_f64();
        let done = last.operations.saturating_sub(first.operations) as f64;
        (last.at > first.at && cpu > 0.0 && done > 0.0).then_some(done / cpu)
    });
    Ok(FixedRun { report, per_application_second, settings: jvms.settings() })
}
