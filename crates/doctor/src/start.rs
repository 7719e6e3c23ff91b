//! A program that is started to be watched.

use crate::evidence::Evidence;
use crate::placement::System;
use crate::watch::{Watched, observing, watch};
use compare::Program;
use control::View;
use jvm::agent::AgentOptions;
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
    let (pid, obstacle) = started(&mut running, &mut jvms, obstacle)?;
    progress.start("warming up", warmup);
    let since = Instant::now();
    while since.elapsed() < warmup {
        still_runs(&mut running, "during its warm-up; use a shorter --warmup")?;
        progress.passed(since.elapsed());
        std::thread::sleep(STEP);
    }
    progress.finish();
    let control = if obstacle.is_none() { View::of_process(pid)? } else { None };
    let attached = Attached::to(pid, PATIENCE);
    let unseen = obstacle.map(|why| format!("the use of eden, and refills: {why}"));
    let unasked = attached.as_ref().err().map(|error| format!("flags, and threads: {error}"));
    let missing = unseen.into_iter().chain(unasked).collect();
    let (control, attached) = (control.as_ref(), attached.as_ref().ok());
    let watched = Watched { pid, control, attached, system: System::here(), missing };
    let mut evidence = watch(&watched, length, progress)?;
    evidence.missing.extend(end(&mut running)?);
    Ok(evidence)
}

/// Ends the program, and says why it did not end well, if so: what was seen before is true all the same. Whoever does not end in time is
/// killed with `running`.
fn end(running: &mut Running) -> Result<Option<String>> {
    match running.end() {
        Ok(()) => Ok(None),
        Err(error) if error.is_interruption() => Err(error),
        Err(error) => Ok(Some(format!("an orderly end of the program: {error}"))),
    }
}

/// The program's JVM, as soon as that has started, and why it has no agent, if that is so.
fn started(
    running: &mut Running,
    jvms: &mut Jvms,
    obstacle: Option<String>,
) -> Result<(u32, Option<String>)> {
    let since = Instant::now();
    loop {
        if obstacle.is_some() {
            if let Some(pid) = resident::jvms_of(running.pid()).into_iter().find(|pid| is_up(*pid)) {
                return Ok((pid, obstacle));
            }
        } else {
            jvms.look()?;
            if let Some(pid) = jvms.process() {
                return Ok((pid, None));
            }
            if let Some((pid, why)) = jvms.refusal().filter(|(pid, _)| is_up(*pid)) {
                return Ok((pid, Some(why.to_string())));
            }
        }
        still_runs(running, "before a JVM started")?;
        if since.elapsed() > START {
            return Err(Error::failed(format!(
                "no JVM started within {} s; check that the program starts java and passes JAVA_TOOL_OPTIONS on",
                START.as_secs()
            )));
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
