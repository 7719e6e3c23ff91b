//! The end of an observer, or of buffers that were only tried: HotSpot's own functions are put back.

use crate::attach::{Attached, Loaded};
use crate::{Error, Result, loaded, os};
use control::{Control, State};
use std::time::{Duration, Instant};

/// How long a JVM may take to let its observer go.
const PATIENCE: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(10);

/// Has a JVM's observer withdraw. A JVM that has ended, or whose observer has withdrawn, is none to complain of.
///
/// On attach it goes at once and entirely. Where the library cannot be named any more (musl's loader does not know a file that has gone)
/// or the JVM does not attach, a word in the control memory has the next request or collection put HotSpot's functions back.
pub(crate) fn withdraw(pid: u32, control: &Control) -> Result<()> {
    if has_gone(pid, control) {
        return Ok(());
    }
    let attached = ask_on_attach(pid);
    control.ask_to_withdraw();
    let since = Instant::now();
    while !has_gone(pid, control) {
        if since.elapsed() > PATIENCE {
            let why = attached.err().map_or_else(|| control.message(), |error| error.to_string());
            return Err(Error::failed(format!(
                "the observer of process {pid} is withdrawn at the JVM's next request for memory, which has not come within {} s ({why})",
                PATIENCE.as_secs()
            )));
        }
        std::thread::sleep(STEP);
    }
    Ok(())
}

/// Waits for buffers to leave a JVM that are switched off and asked to withdraw: at a collection at which none is being refilled. Whether they have gone;
/// otherwise the word in the control memory stays, unless somebody has taken it back.
pub(crate) fn leave(pid: u32, control: &Control) -> bool {
    leave_within(pid, control, PATIENCE)
}

fn leave_within(pid: u32, control: &Control, patience: Duration) -> bool {
    let since = Instant::now();
    while !has_gone(pid, control) {
        if since.elapsed() > patience || os::stopped_by().is_some() || !control.is_to_withdraw() {
            return false;
        }
        std::thread::sleep(STEP);
    }
    // What JVMTI still tells finds no agent; where the JVM cannot be asked it stays so.
    let _ = ask_on_attach(pid);
    true
}

/// A process that has ended and is still waited for has no program any more.
fn has_gone(pid: u32, control: &Control) -> bool {
    matches!(control.state(), Some(State::Withdrawn | State::Ended)) || !os::is_running(pid)
}

/// Asks each agent library that the JVM has loaded, by the name that it has there.
fn ask_on_attach(pid: u32) -> Result<()> {
    let libraries = loaded::known_by_name(&os::read_text(format!("/proc/{pid}/maps")).unwrap_or_default());
    if libraries.is_empty() {
        return Err(Error::failed("the agent's library cannot be named any more"));
    }
    let jvm = Attached::despite_signals(pid, PATIENCE)?;
    let mut asked = Ok(());
    for library in libraries {
        match jvm.load(&library, "withdraw=true,log=error") {
            Ok(Loaded::Yes) => return Ok(()),
            Ok(Loaded::Refused | Loaded::TooEarly) => {}
            Err(error) => asked = Err(error),
        }
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_that_are_to_stay_are_not_waited_for() {
        let control = Control::anonymous(&[1]).unwrap();
        // Who waited would wait for ever.
        assert!(!leave_within(std::process::id(), &control, Duration::MAX), "nobody asks them to go");
    }

    #[test]
    fn an_observer_that_has_gone_is_not_asked() {
        let control = Control::anonymous(&[1]).unwrap();
        assert_eq!(withdraw(0x3fff_fff0, &control), Ok(()), "no such process");
        control.set_state(State::Withdrawn);
        assert_eq!(withdraw(std::process::id(), &control), Ok(()));
        assert!(!control.is_to_withdraw());
    }
}
