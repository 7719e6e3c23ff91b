//! Terrace put into a JVM that runs, and switched there.

use crate::agent::AgentOptions;
use crate::attach::{Attached, Copied, Loaded};
use crate::install::Install;
use crate::lease::Lease;
use crate::status::{self, Status};
use crate::vm_flags::{self, VmFlags};
use crate::withdraw::{leave, withdraw};
use crate::{Error, Result, loaded, observe, os};
use control::{Control, Mode, State};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a JVM may take for one answer: it may be in the middle of a long collection.
const PATIENCE: Duration = Duration::from_secs(60);
/// A JVM younger than this is not asked for anything: its live phase may not have begun.
const EARLIEST: Duration = Duration::from_millis(1000);
/// How long that may take on a busy machine.
const STARTING: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(100);
/// From this JDK on a JVM warns of agents that are loaded while it runs (JEP 451).
const WARNS_SINCE: u32 = 21;

/// Loads the agent into a JVM; `tell` gets what should be known before.
pub fn attach(pid: u32, options: &AgentOptions, install: &Install, tell: impl Fn(&str)) -> Result<Status> {
    let library = install.agent()?;
    let present = match Control::of_process(pid) {
        Err(error) if error.is_of_other_version() => return Err(error.into()),
        // What cannot be looked into says so when it is asked.
        other => other.ok().flatten(),
    };
    if let Some(control) = present
        && let Some(state @ (State::Installed | State::Observing)) = control.state()
    {
        if state == State::Observing && !options.observes() {
            if is_only_observed(&control) {
                return Err(Error::failed(format!(
                    "process {pid} already has terrace (observing), and gets no buffers: {}",
                    control.message()
                )));
            }
            tell("an observer is installed; buffers take its place, unless they are refused");
            return load_into(pid, options, &library, Some(&control), tell);
        }
        return Err(Error::failed(format!(
            "process {pid} already has terrace ({}); see 'terrace status {pid}', switch it with 'terrace on {pid}' and 'terrace off {pid}'",
            state.name()
        )));
    }
    load_into(pid, options, &library, None, tell)
}

/// Loads the library beside an observer, if there is one.
fn load_into(
    pid: u32,
    options: &AgentOptions,
    library: &Path,
    observer: Option<&Control>,
    tell: impl Fn(&str),
) -> Result<Status> {
    let jvm = Attached::to(pid, PATIENCE)?;
    if warns(&jvm)? {
        tell(
            "this JDK prints a warning on its standard error when an agent is loaded into a running \
              JVM; -XX:+EnableDynamicAgentLoading at its start suppresses it",
        );
    }
    let (path, mut copy) = jvm.reachable(library)?;
    if let Some(observer) = observer
        && loaded::libraries(&loaded::maps(pid)?) != [path.as_path()]
    {
        // Its own library replaces it, unless it refuses what is asked for; another copy of it cannot.
        withdraw(pid, observer)?;
    }
    // What cannot be seen cannot be withdrawn either.
    let options = AgentOptions { control: Some("auto".into()), seen: true, ..options.clone() };
    let loaded = load(&jvm, &path, copy.as_mut(), &options.text()?, &tell)?;
    match (loaded, status::of(pid)) {
        (Loaded::Yes, status) => status,
        (Loaded::Refused, Ok(status)) if status.state == State::Observing.name() => Err(Error::failed(
            "the agent refused; the reason is on the JVM's standard error, and the observer stays",
        )),
        (Loaded::Refused, Ok(status)) if status.state == State::Refused.name() => {
            Err(Error::failed(format!("refused: {}", status.message)))
        }
        (Loaded::Refused, _) => {
            // An older JVM asks the agent in any case, which then refuses.
            let young = jvm.uptime()?.is_some_and(|uptime| uptime <= STARTING);
            let again = if young { "; if the JVM is still starting, try again" } else { "" };
            Err(Error::failed(format!("the agent refused; the reason is on the JVM's standard error{again}")))
        }
        (Loaded::TooEarly, _) => Err(Error::failed(format!("process {pid} is still starting; try again"))),
    }
}

/// Whether it warns when an agent comes: unless its command line permits that in so many words.
fn warns(jvm: &Attached) -> Result<bool> {
    let permits = |flags: VmFlags| {
        flags.get("EnableDynamicAgentLoading").is_some_and(|flag| flag.origin.starts_with("command line"))
    };
    let warns = jvm.feature().and_then(|feature| Ok(feature >= WARNS_SINCE && !permits(vm_flags::of(jvm)?)));
    match warns {
        Err(error) if error.ends_asking() => Err(error),
        warns => Ok(warns.unwrap_or(false)),
    }
}

/// Waits for a JVM that has only begun to start.
fn load(
    jvm: &Attached,
    library: &Path,
    mut copy: Option<&mut Copied>,
    options: &str,
    tell: &dyn Fn(&str),
) -> Result<Loaded> {
    let since = Instant::now();
    loop {
        let uptime = jvm.uptime()?;
        if uptime.is_some_and(|uptime| uptime >= EARLIEST) {
            break;
        }
        if uptime.is_none() && !jvm.is_running() {
            return Err(Error::failed("the JVM has just ended"));
        }
        if since.elapsed() > PATIENCE {
            return Err(Error::failed(format!(
                "the JVM has not reported its uptime in {} s: it is still starting, or ending; try again",
                PATIENCE.as_secs()
            )));
        }
        pause()?;
    }
    loop {
        let loaded = jvm.load_new(library, copy.as_deref_mut(), options, tell)?;
        if loaded != Loaded::TooEarly || jvm.uptime()?.is_none_or(|uptime| uptime > STARTING) {
            return Ok(loaded);
        }
        pause()?;
    }
}

/// A moment's wait, unless the user has stopped us.
fn pause() -> Result<()> {
    std::thread::sleep(STEP);
    os::stopped_by().map_or(Ok(()), |signal| Err(Error::interrupted(signal)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switched {
    /// Buffers go another way than before, which was this, or the same.
    From(Mode),
    /// There were none: the observer has been withdrawn.
    Withdrawn,
}

/// Switches the buffers. Off, an observer withdraws: the JVM goes on as a stock one.
pub fn switch(pid: u32, mode: Mode) -> Result<Switched> {
    let (status, control) = found(pid)?;
    if control.state() == Some(State::Observing) && mode == Mode::Off {
        return withdraw(pid, &control).map(|()| Switched::Withdrawn);
    }
    has_buffers(&status, &control)?;
    let before = control.mode();
    if mode == Mode::On {
        control.ask_to_stay();
    }
    control.set_mode(mode);
    Ok(Switched::From(before))
}

/// What has become of buffers that were to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    Gone,
    /// They go with the JVM's next collection.
    Leaving,
    /// They stay: somebody has switched them on for good.
    Kept,
}

/// Switches buffers off and has them leave a JVM; not those that came with a lease which somebody has ended.
pub fn remove(pid: u32, lease: Option<&Lease>) -> Result<Removed> {
    let are_kept = || lease.is_some_and(|lease| !lease.stands());
    if are_kept() {
        return Ok(Removed::Kept);
    }
    let (status, control) = found(pid)?;
    if control.state() != Some(State::Withdrawn) {
        has_buffers(&status, &control)?;
    }
    control.set_mode(Mode::Off);
    control.ask_to_withdraw();
    if are_kept() {
        // At the same moment: ours may have come after what that wrote.
        control.ask_to_stay();
        control.set_mode(Mode::On);
        return Ok(Removed::Kept);
    }
    Ok(match leave(pid, &control) {
        true => Removed::Gone,
        false if are_kept() => Removed::Kept,
        false => Removed::Leaving,
    })
}

/// Whether the collector is one that gets no buffers: its agent gives way to nothing.
fn is_only_observed(control: &Control) -> bool {
    observe::settings(control)["only_observed"] == true
}

/// The agent in a JVM, or why there is none.
pub(crate) fn found(pid: u32) -> Result<(Status, Control)> {
    let status = status::of(pid)?;
    let control = Control::of_process(pid)?.ok_or_else(|| Error::failed("the JVM has just ended"))?;
    Ok((status, control))
}

/// Why there is nothing to be changed, if that is so.
pub(crate) fn has_buffers(status: &Status, control: &Control) -> Result<()> {
    let pid = status.pid;
    match control.state() {
        Some(State::Installed) => Ok(()),
        Some(State::Observing) if is_only_observed(control) => {
            Err(Error::failed(format!("process {pid} has no buffers: {}", status.message)))
        }
        Some(State::Observing) => Err(Error::failed(format!(
            "process {pid} has no buffers: its agent only counts (levels=none); 'terrace attach {pid}' installs buffers"
        ))),
        Some(State::Withdrawn) => Err(Error::failed(format!(
            "process {pid} has no buffers: its agent has withdrawn; 'terrace attach {pid}' installs buffers"
        ))),
        _ => {
            Err(Error::failed(format!("process {pid} has no buffers ({}): {}", status.state, status.message)))
        }
    }
}
