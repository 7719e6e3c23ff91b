//! A program that is started to be watched.

use crate::evidence::Evidence;
use crate::watch::{Watched, observing, watch};
use compare::Program;
use control::View;
use jvm::attach::Attached;
use jvm::install::Install;
use jvm::loadable;
use jvm::observe::Jvms;
use jvm::running::Running;
use jvm::{Error, Result};
use present::progress::Progress;
use std::time::{Duration, Instant};

const STEP: Duration = Duration::from_millis(20);
/// Until a JVM comes up: a build tool may work for a while before it starts one.
const START: Duration = Duration::from_secs(120);
/// For an answer of the JVM's.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts it with an observing agent, waits for the warm-up to be over, watches, and ends it.
pub fn watch_program(
    program: &Program,
    flags: &[String],
    (warmup, length): (Duration, Duration),
    install: &Install,
    progress: &Progress,
) -> Result<Evidence> {
    let mut jvms = Jvms::new()?;
    let library = install.agent()?;
    let agent = jvms.options(&observing()).flag(&library)?;
    // A workload runs a little longer than it is watched: the program must not end first.
    let seconds = (length + warmup).as_secs() + 10;
    let program = program.for_seconds(seconds, Duration::ZERO);
    let launch = program.launch(&[vec![agent], flags.to_vec()].concat(), None, None, install)?;
    loadable::check(&library, &launch.program)?;
    let mut running = Running::start(&launch, false)?;
    let since = Instant::now();
    let pid = loop {
        jvms.refresh()?;
        if let Some(pid) = jvms.process() {
            break pid;
        }
        still_runs(&mut running, "before a JVM started")?;
        if since.elapsed() > START {
            return Err(Error::failed(format!(
                "no JVM started within {} s; check that the program starts java and passes JAVA_TOOL_OPTIONS on",
                START.as_secs()
            )));
        }
        std::thread::sleep(STEP);
    };
    progress.start("warming up", warmup);
    let since = Instant::now();
    while since.elapsed() < warmup {
        still_runs(&mut running, "during its warm-up; use a shorter --warmup")?;
        progress.passed(since.elapsed());
        std::thread::sleep(STEP);
    }
    progress.finish();
    let (control, attached) = (View::of_process(pid)?, Attached::to(pid, PATIENCE));
    let missing = attached.as_ref().err().map(|error| error.to_string()).into_iter().collect();
    let watched = Watched { pid, control: control.as_ref(), attached: attached.as_ref().ok(), missing };
    let evidence = watch(&watched, length, progress)?;
    running.end()?;
    Ok(evidence)
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
