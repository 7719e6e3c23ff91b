//! JVMs of one pair, or one of them: started, measured, ended.

use crate::Comparison;
use crate::in_force::InForce;
use crate::measure::Measure;
use crate::side::Side;
use jvm::arrival::{await_agent, had_agent};
use jvm::counts::Counts;
use jvm::heap_log;
use jvm::launch::Launch;
use jvm::observe::Jvms;
use jvm::os::Exit;
use jvm::running::Running;
use jvm::together::{self, Member};
use jvm::workload::Report;
use jvm::{Error, Result};
use serde_json::Value;
use std::time::{Duration, Instant};

/// How long what a program leaves behind may take to end with it.
const ENDING: Duration = Duration::from_secs(10);
/// How much longer than asked a workload may take.
const SLACK: Duration = Duration::from_secs(180);
/// How often what a script's JVMs have allocated is read: the accounts of one that has ended are gone.
const READ: Duration = Duration::from_millis(100);
/// How often an ending is looked for where there are several JVMs that may end.
const LOOK: Duration = Duration::from_millis(10);

/// The logs of collections: this, and the process ID.
const HEAP_LOG: &str = "heap-";

/// What a JVM gave.
pub(super) struct Fork {
    pub measure: Measure,
    pub whole_run: bool,
    pub operation: Option<String>,
    pub settings: Value,
    pub flags: Vec<String>,
    pub command: String,
    pub notes: Vec<String>,
}

/// A side's JVM before it is started.
struct Ready {
    jvms: Jvms,
    flags: Vec<String>,
    in_force: InForce,
    has_agent: bool,
}

/// Runs a JVM of each of these sides at the same time, started in this order. As they share the CPUs, each takes as many times as long as
/// there are JVMs.
pub(super) fn forks(comparison: &Comparison, sides: &[&Side], fork: Duration) -> Result<Vec<Fork>> {
    let ready = sides.iter().map(|side| ready(comparison, side)).collect::<Result<Vec<_>>>()?;
    let share = sides.len() as u32;
    let times = (comparison.warmup * share, fork * share);
    match (comparison.program.is_workload(), ready.len()) {
        (true, 1) => ready.into_iter().map(|jvm| workload(comparison, jvm, fork)).collect(),
        (true, _) => workloads(comparison, ready, times),
        (false, _) => commands(comparison, ready, times),
    }
}

fn ready(comparison: &Comparison, side: &Side) -> Result<Ready> {
    let mut jvms = Jvms::new()?;
    let mut flags = Vec::new();
    if let Some(agent) = &side.agent {
        flags.push(jvms.options(agent).flag(&comparison.install.agent()?)?);
    }
    flags.extend(comparison.flags_of(side));
    // Last: what is written on the command line itself stays readable.
    flags.push(heap_log::flag(&jvms.directory().join(format!("{HEAP_LOG}%p"))));
    let in_force = InForce::new(side, &flags);
    Ok(Ready { jvms, flags, in_force, has_agent: side.agent.is_some() })
}

/// A workload measures itself.
fn workload(comparison: &Comparison, ready: Ready, fork: Duration) -> Result<Fork> {
    let Ready { mut jvms, flags, has_agent, .. } = ready;
    let program = comparison.program.for_seconds(fork.as_secs_f64().ceil() as u64, comparison.warmup);
    let launch = program.launch(&flags, None, None, &comparison.install)?;
    let mut running = Running::start(&launch, comparison.show)?;
    let length = fork + comparison.warmup;
    if running.wait(length + SLACK)?.is_none() {
        return Err(Error::failed(format!(
            "the workload did not end within {} s",
            (length + SLACK).as_secs()
        )));
    }
    match has_agent {
        true => had_agent(&mut running, &mut jvms)?,
        false => running.check()?,
    }
    Ok(of_workload(Report::read(&running.output())?, &mut jvms, has_agent, (flags, &launch)))
}

/// Workloads whose measured windows are one.
fn workloads(
    comparison: &Comparison,
    ready: Vec<Ready>,
    (warmup, window): (Duration, Duration),
) -> Result<Vec<Fork>> {
    let program = comparison.program.with_external_window();
    let mut started = Vec::new();
    let mut members = Vec::new();
    for Ready { jvms, flags, has_agent, .. } in ready {
        let launch =
            program.launch(&flags, Some(&together::progress_in(&jvms)), None, &comparison.install)?;
        members.push(Member::start("the workload", &launch, jvms, has_agent, comparison.show)?);
        started.push((has_agent, flags, launch));
    }
    let reports = together::measure(&mut members, warmup, window)?;
    let all = members.iter_mut().zip(reports).zip(started);
    Ok(all
        .map(|((member, report), (has_agent, flags, launch))| {
            of_workload(report, &mut member.jvms, has_agent, (flags, &launch))
        })
        .collect())
}

fn of_workload(
    report: Report,
    jvms: &mut Jvms,
    has_agent: bool,
    (flags, launch): (Vec<String>, &Launch),
) -> Fork {
    let counts = has_agent.then(|| jvms.counts());
    let measure = Measure {
        seconds: report.seconds,
        cpu_seconds: report.cpu_seconds,
        application_cpu_seconds: None,
        stopped: None,
        operations: Some(report.operations),
        bytes: report.allocated_bytes,
        collections: report.collections,
        collection_seconds: report.collection_seconds,
        heap_used: report
            .measured()
            .and_then(|(from, to)| heap_log::used_up_by_all(jvms.directory(), HEAP_LOG, from, to)),
        heap_unknown: 0.0,
        waste: counts.map(|counts| counts.waste),
        requests: counts.map(|counts| counts.requests),
    };
    Fork {
        measure,
        whole_run: false,
        operation: Some(report.operation),
        settings: jvms.settings(),
        flags,
        command: launch.describe(),
        notes: jvms.notes(),
    }
}

/// A program of the user's that runs.
struct Started {
    running: Running,
    jvms: Jvms,
    flags: Vec<String>,
    in_force: InForce,
    launch: Launch,
    ended: Option<(Exit, Duration)>,
    first: Counts,
}

/// Any other programs are measured from the end of their warm-up until their time is over, or as a whole if they end before.
fn commands(
    comparison: &Comparison,
    ready: Vec<Ready>,
    (warmup, window): (Duration, Duration),
) -> Result<Vec<Fork>> {
    let mut all = Vec::new();
    for Ready { jvms, flags, in_force, .. } in ready {
        let launch = comparison.program.launch(&flags, None, None, &comparison.install)?;
        let running = Running::start(&launch, comparison.show)?;
        let first = Counts::default();
        all.push(Started { running, jvms, flags, in_force, launch, ended: None, first });
    }
    for started in &mut all {
        await_agent(&mut started.running, &mut started.jvms)?;
        started.in_force.look(&started.jvms);
    }
    let since = Instant::now();
    pass(&mut all, since + warmup)?;
    if all.iter().any(|started| started.ended.is_none()) {
        for started in &mut all {
            started.first = started.jvms.counts_patiently();
        }
        pass(&mut all, since + warmup + window)?;
    }
    // All are counted before the first is ended: who is left alone has the machine for itself.
    let counts: Vec<Counts> = all.iter_mut().map(|started| started.jvms.counts_patiently()).collect();
    all.into_iter().zip(counts).map(|(started, counts)| of_command(started, &counts)).collect()
}

fn of_command(started: Started, counts: &Counts) -> Result<Fork> {
    let Started { mut running, mut jvms, flags, in_force, launch, ended, first } = started;
    let (measure, notes) = match ended {
        Some((exit, time)) => {
            had_agent(&mut running, &mut jvms)?;
            let whole = Measure::between(&Counts::default(), &jvms.counts());
            let heap = heap_log::used_up_in_whole_runs(jvms.directory(), HEAP_LOG);
            // The accounts of a JVM that has ended are gone, and a run is a run.
            let measure = Measure {
                seconds: time.as_secs_f64(),
                cpu_seconds: Some(exit.cpu.as_secs_f64()),
                bytes: None,
                heap_used: heap.map(|run| run.bytes),
                heap_unknown: heap.map_or(0.0, |run| run.unknown),
                ..whole
            };
            (measure, jvms.notes())
        }
        None => {
            let measure = Measure {
                heap_used: used_up(&jvms, [first.at, counts.at]),
                ..Measure::between(&first, counts)
            };
            running.end()?;
            (measure, jvms.notes().into_iter().chain(jvms.uncounted()).collect())
        }
    };
    // With it goes what it has left in its group.
    drop(running);
    if let [pid, ..] = jvms.left_behind(ENDING)[..] {
        return Err(Error::failed(format!(
            "the program has ended, but its JVM {pid} runs on, as a build tool's daemon does, and the next program would use it; \
             start it without one (gradle --no-daemon)"
        )));
    }
    Ok(Fork {
        measure,
        whole_run: ended.is_some(),
        operation: None,
        settings: jvms.settings(),
        flags,
        command: launch.describe(),
        notes: notes.into_iter().chain(in_force.note()).collect(),
    })
}

/// Of the heap between these times, by all JVMs. Up to when the rest was counted: until the other program has ended its own goes on, with the machine for itself.
fn used_up(jvms: &Jvms, [from, to]: [Duration; 2]) -> Option<f64> {
    heap_log::used_up_by_all(jvms.directory(), HEAP_LOG, from, to)
}

/// Lets time pass until then, or until all have ended. What a flag does not change is not measured. An ending is noted with its time; what a script's JVMs have allocated is read now and then.
fn pass(all: &mut [Started], until: Instant) -> Result<()> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let look = if all.len() > 1 { LOOK } else { Duration::MAX };
        let read = if all.iter().all(|started| started.launch.is_java()) { Duration::MAX } else { READ };
        let mut slept = false;
        for started in all.iter_mut().filter(|started| started.ended.is_none()) {
            // The first that runs is waited for; of the others it is only looked whether they have ended.
            let wait = if slept { Duration::ZERO } else { left.min(look).min(read) };
            slept = true;
            started.ended = started.running.wait(wait)?;
            started.jvms.refresh()?;
            started.in_force.look(&started.jvms);
            if started.ended.is_some() {
                started.running.check()?;
            } else if read < Duration::MAX {
                started.jvms.read_accounts();
            }
        }
        if all.iter().all(|started| started.ended.is_some()) || until <= Instant::now() {
            return all.iter().try_for_each(|started| started.in_force.check());
        }
    }
}
