//! An agent that only counts and times (`levels=none,times=true`), in a JVM that runs, for as long as somebody looks.

use crate::agent::AgentOptions;
use crate::install::Install;
use crate::lease::{self, Lease};
use crate::refills::RefillTimes;
use crate::withdraw::withdraw;
use crate::{Error, Result, switch};
use control::{Control, View};
use std::sync::Arc;

/// An observer of ours. It withdraws when this is dropped: HotSpot's own functions are back in their places, and JVMTI tells nobody of
/// anything. The library and its counters stay in the JVM's memory, unused. Where this process is killed, it withdraws on its own.
pub struct Observer {
    pid: u32,
    control: Arc<Control>,
    present: bool,
    _lease: Lease,
}

impl Observer {
    /// Attaches it; `tell` gets what should be known before. An error if terrace is there already, with buffers or without.
    pub fn attach(pid: u32, install: &Install, tell: impl Fn(&str)) -> Result<Observer> {
        let options = AgentOptions { times: true, lease: lease::SECONDS, ..AgentOptions::observing() };
        switch::attach(pid, &options, install, tell)?;
        let control = Control::of_process(pid)?.ok_or_else(|| Error::failed("the JVM has just ended"))?;
        let control = Arc::new(control);
        match Lease::of(Arc::clone(&control)) {
            Ok(lease) => Ok(Observer { pid, control, present: true, _lease: lease }),
            Err(error) => withdraw(pid, &control).and(Err(error)),
        }
    }

    /// What it counts.
    pub fn control(&self) -> &View {
        &self.control
    }

    /// What it has timed so far. The first call of a process takes 50 ms.
    pub fn refills(&self) -> Option<RefillTimes> {
        RefillTimes::read(&self.control)
    }

    /// Ends it. What it has counted can be read before, and by [`Observer::control`] of a later one no more.
    pub fn withdraw(mut self) -> Result<()> {
        self.present = false;
        withdraw(self.pid, &self.control)
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        if self.present {
            // Nobody is left to be told; the word in its memory stays.
            let _ = withdraw(self.pid, &self.control);
        }
    }
}
