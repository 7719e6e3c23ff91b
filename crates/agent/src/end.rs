//! The JVM's end, which an attach may race.
#![allow(clippy::disallowed_types, reason = "that the JVM ends is told to a thread that attaches meanwhile")]

use control::{Control, Mode, State};
use std::sync::atomic::{AtomicBool, Ordering, fence};

/// Whether VMDeath has come.
static ENDING: AtomicBool = AtomicBool::new(false);

/// For VMDeath, before it looks for an agent.
pub(crate) fn begins() {
    // Relaxed: ordered by the fence.
    ENDING.store(true, Ordering::Relaxed);
    // Between this store and the look, as in `stop_if_ending` between the agent's publication and the load: either VMDeath finds the agent, or it is
    // seen there.
    fence(Ordering::SeqCst);
}

/// For who has published an agent, and started it, which may have been meanwhile. An attach so late that VMDeath is not sent to it any more is not
/// stopped, and does no harm: whatever pause still comes, the hooks retire its buffers.
pub(crate) fn stop_if_ending(control: &Control) {
    fence(Ordering::SeqCst);
    // Relaxed: ordered by the fence.
    if ENDING.load(Ordering::Relaxed) {
        stop(control);
    }
}

/// From here on requests are passed on.
pub(crate) fn stop(control: &Control) {
    control.set_mode(Mode::Off);
    control.set_state(State::Ended);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_behind_the_jvms_end_passes_requests_on() {
        let control = Control::anonymous(&[1]).unwrap();
        let installed = || {
            control.set_state(State::Installed);
            control.set_mode(Mode::On);
            stop_if_ending(&control);
            (control.state(), control.mode())
        };
        assert_eq!(installed(), (Some(State::Installed), Mode::On));
        begins();
        assert_eq!(installed(), (Some(State::Ended), Mode::Off));
        // The process of the tests goes on.
        ENDING.store(false, Ordering::Relaxed);
    }
}
