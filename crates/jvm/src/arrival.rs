//! Waiting until a JVM of a program is up with the agent.

use crate::observe::Jvms;
use crate::running::Running;
use crate::{Error, Result};
use std::time::Duration;

/// How long a JVM may take to come up with the agent.
const START: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(10);
/// What to look at when no JVM had the agent.
pub const REACHED: &str = "check that the program starts java and passes JAVA_TOOL_OPTIONS on";

/// Waits until a JVM of the program is up with the agent.
pub fn await_agent(running: &mut Running, jvms: &mut Jvms) -> Result<()> {
    loop {
        if running.wait(POLL)?.is_some() {
            return had_agent(running, jvms);
        }
        jvms.refresh()?;
        if jvms.ready() {
            return Ok(());
        }
        if running.started().elapsed() > START {
            return Err(Error::failed(format!(
                "no JVM with terrace started within {} s; {REACHED}",
                START.as_secs()
            )));
        }
    }
}

/// Of a program that has ended: whether it ended well, and a JVM of it was up with the agent.
pub fn had_agent(running: &mut Running, jvms: &mut Jvms) -> Result<()> {
    jvms.refresh()?;
    running.check()?;
    if jvms.ready() {
        return Ok(());
    }
    Err(Error::failed(format!("the program ended before a JVM with terrace started; {REACHED}")))
}
