//! A program that is started to be watched.

use crate::evidence::Evidence;
use crate::placement::System;
use crate::watch::{observing, watch};
use crate::watched::Watched;
use compare::Program;
use control::View;
use jvm::agent::AgentOptions;
use jvm::arrival::REACHED;
use jvm::attach::Attached;
use jvm::install::Install;
use jvm::observe::Jvms;
use jvm::perfdata::PerfFile;
use jvm::running::Running;
use jvm::{Error, Result, archive, loadable, os, resident};
use present::progress::Progress;
use std::time::{Duration, Instant};

const STEP: Duration = Duration::from_millis(20);
/// Until a JVM comes up: a build tool may work for a while before it starts one.
const START: Duration = Duration::from_secs(120);
/// For an answer of the JVM's.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts it with an observing agent, waits for the warm-up to be over, watches, and ends it. Where the agent cannot be had, the program
/// runs without, and what can be seen from outside is.
pub fn watch_program(
    program: &Program,
    flags: &[String],
    (warmup, length): (Duration, Duration),
    install: &Install,
    progress: &Progress,
) -> Result<Evidence> {
    let mut jvms = Jvms::new()?;
    let library = install.agent()?;
    let agent = AgentOptions { strict: false, ..jvms.options(&observing()) }.flag(&library)?;
    // A workload must not end before it has been watched, however long attaching and looking take: it is ended then.
    let seconds = (length + warmup).as_secs() + 600;
    let program = program.for_seconds(seconds, Duration::ZERO);
    let without = program.launch(flags, None, None, install)?;
    let obstacle = match archive::written_by(&without) {
        Some(option) => Some(format!(
            "{option} writes a class data archive, which HotSpot does not do with any native agent; leave it out here"
        )),
        None => loadable::check(&library, &without.program).err().map(|error| error.to_string()),
    };
    let launch = match obstacle {
        Some(_) => without,
        None => program.launch(&[vec![agent], flags.to_vec()].concat(), None, None, install)?,
    };
    let mut running = Running::start(&launch, false)?;
    let watched = watch_started(&mut running, &mut jvms, obstacle, (warmup, length), progress);
    let end = if watched.is_ok() { end(&mut running) } else { Ok(None) };
    drop(running);
    drop(jvms);
    let mut evidence = watched?;
    evidence.missing.extend(end?);
    Ok(evidence)
}

/// Watches the busiest of its JVMs.
fn watch_started(
    running: &mut Running,
    jvms: &mut Jvms,
    obstacle: Option<String>,
    (warmup, length): (Duration, Duration),
    progress: &Progress,
) -> Result<Evidence> {
    let (pids, obstacle) = warmed_up(running, jvms, obstacle, warmup, progress)?;
    let busiest = pids.iter().copied().max_by_key(|pid| os::process_cpu(*pid).unwrap_or_default());
    let pid =
        busiest.ok_or_else(|| Error::failed("the program's JVM has just ended; use a shorter --warmup"))?;
    let control = if obstacle.is_none() { View::of_process(pid)? } else { None };
    let attached = Attached::to(pid, PATIENCE);
    let unseen = obstacle.map(|why| format!("the use of eden, and refills: {why}"));
    let unasked = attached.as_ref().err().map(|error| format!("flags, and threads: {error}"));
    let missing = unseen.into_iter().chain(unasked).chain(unwatched(pid, &pids)).collect();
    let (control, attached) = (control.as_ref(), attached.as_ref().ok());
    watch(&Watched { pid, control, attached, system: System::here(), missing }, length, progress)
}

/// The JVMs that run when the warm-up is over, and why they have no agent, if that is so. A script may start one that only tells its version, and go on
/// to the one that counts: then the warm-up is the latter's.
fn warmed_up(
    running: &mut Running,
    jvms: &mut Jvms,
    mut obstacle: Option<String>,
    warmup: Duration,
    progress: &Progress,
) -> Result<(Vec<u32>, Option<String>)> {
    loop {
        let pids;
        (pids, obstacle) = started(running, jvms, obstacle)?;
        progress.start("warming up", warmup);
        let since = Instant::now();
        while since.elapsed() < warmup && pids.iter().any(|pid| os::is_running(*pid)) {
            still_runs(running, "during its warm-up; use a shorter --warmup, or a program that runs longer")?;
            progress.passed(since.elapsed());
            std::thread::sleep(STEP);
        }
        progress.finish();
        still_runs(running, "during its warm-up; use a shorter --warmup, or a program that runs longer")?;
        jvms.look()?;
        let living = living(running, jvms, obstacle.is_some());
        if !living.is_empty() && since.elapsed() >= warmup {
            return Ok((living, obstacle));
        }
    }
}

/// The program's JVMs that are up.
fn living(running: &Running, jvms: &Jvms, without_agent: bool) -> Vec<u32> {
    match without_agent {
        true => resident::jvms_of(running.pid()).into_iter().filter(|pid| is_up(*pid)).collect(),
        false => jvms.living(),
    }
}

/// That one of several was chosen.
fn unwatched(chosen: u32, pids: &[u32]) -> Option<String> {
    let others: Vec<String> = pids.iter().filter(|pid| **pid != chosen).map(u32::to_string).collect();
    (!others.is_empty()).then(|| {
        format!(
            "other JVMs of the program ({}): process {chosen} has used the most CPU time; 'terrace doctor PID' watches another one",
            others.join(", ")
        )
    })
}

/// Ends the program, and says why it did not end well, if so: what was seen before is true all the same. Whoever does not end in time is
/// killed with `running`.
fn end(running: &mut Running) -> Result<Option<String>> {
    match running.end() {
        Ok(()) => Ok(None),
        Err(error) if error.is_interruption() => Err(error),
        Err(error) => Ok(Some(format!("a clean exit of the program: {error}"))),
    }
}

/// The program's JVMs, as soon as one has started, and why they have no agent, if that is so.
fn started(
    running: &mut Running,
    jvms: &mut Jvms,
    obstacle: Option<String>,
) -> Result<(Vec<u32>, Option<String>)> {
    let since = Instant::now();
    let ended =
        format!("before a JVM started that could be watched; {REACHED}, or watch one that runs for longer");
    loop {
        jvms.look()?;
        let living = living(running, jvms, obstacle.is_some());
        if !living.is_empty() {
            return Ok((living, obstacle));
        }
        if let Some((pid, why)) = jvms.refusal().filter(|(pid, _)| is_up(*pid)) {
            return Ok((vec![pid], Some(why.to_string())));
        }
        still_runs(running, &ended)?;
        if since.elapsed() > START {
            return Err(Error::failed(format!("no JVM started within {} s; {REACHED}", START.as_secs())));
        }
        std::thread::sleep(STEP);
    }
}

/// Whether a JVM has come to the end of its start; one without counters (`-XX:-UsePerfData`) does not say.
fn is_up(pid: u32) -> bool {
    let counters = PerfFile::of(pid).and_then(|file| file.read());
    match counters.and_then(|counters| counters.get("sun.rt.createVmEndTime")) {
        Some(end) => end > 0,
        None => os::catches(pid, os::QUIT),
    }
}

fn still_runs(running: &mut Running, when: &str) -> Result<()> {
    if let Some(signal) = jvm::os::stopped_by() {
        return Err(Error::interrupted(signal));
    }
    if running.poll()?.is_some() {
        running.check()?;
        return Err(Error::failed(format!("the program ended {when}")));
    }
    Ok(())
}
