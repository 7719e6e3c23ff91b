//! Terrace put into a JVM that runs, and switched there.

use crate::agent::AgentOptions;
use crate::attach::Attached;
use crate::install::Install;
use crate::status::{self, Status};
use crate::{Error, Result};
use control::{Control, Mode, State};
use std::time::Duration;

/// How long a JVM may take for one answer: it may be in the middle of a long collection.
const PATIENCE: Duration = Duration::from_secs(60);
/// From this JDK on a JVM warns of agents that are loaded while it runs (JEP 451).
const WARNS_SINCE: u32 = 21;

/// Loads the agent into a JVM; `tell` gets what should be known before.
pub fn attach(pid: u32, options: &AgentOptions, install: &Install, tell: impl Fn(&str)) -> Result<Status> {
    let library = install.agent()?;
    if let Ok(Some(control)) = Control::of_process(pid)
        && let Some(state @ (State::Installed | State::Observing)) = control.state()
    {
        return Err(Error::failed(format!(
            "process {pid} has terrace already ({}); see 'terrace status {pid}', switch it with 'terrace on {pid}' and 'terrace off {pid}'",
            state.name()
        )));
    }
    let jvm = Attached::to(pid, PATIENCE)?;
    if jvm.feature().is_ok_and(|feature| feature >= WARNS_SINCE) {
        tell(
            "this JDK warns on its own standard error that an agent is loaded while it runs; \
              -XX:+EnableDynamicAgentLoading at its start would have it silent",
        );
    }
    let (path, _copy) = jvm.reachable(&library)?;
    let options = AgentOptions { control: Some("auto".into()), ..options.clone() };
    let loaded = jvm.load(&path, &options.text()?)?;
    let status = status::of(pid);
    match (loaded, status) {
        (true, status) => status,
        (false, Ok(status)) => Err(Error::failed(format!("refused: {}", status.message))),
        (false, Err(_)) => {
            Err(Error::failed("the agent refused; the JVM's standard error has its reason, in one line"))
        }
    }
}

/// Switches the buffers; gives what was in force before.
pub fn switch(pid: u32, mode: Mode) -> Result<Mode> {
    // Says why there is nothing to be switched.
    let status = status::of(pid)?;
    let control = Control::of_process(pid)?.ok_or_else(|| Error::failed("the JVM has just ended"))?;
    match control.state() {
        Some(State::Installed) => {
            let before = control.mode();
            control.set_mode(mode);
            Ok(before)
        }
        Some(State::Observing) => Err(Error::failed(format!(
            "process {pid} has no buffers to be switched: its agent only counts (levels=none); start it with buffers"
        ))),
        _ => {
            Err(Error::failed(format!("process {pid} has no buffers ({}): {}", status.state, status.message)))
        }
    }
}
