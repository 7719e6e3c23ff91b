//! What is looked at when a refill begins and ends.

use super::{Place, Refill, Waited, are_wanted, record};
use crate::clock::{Clock, Monotonic};
use control::Control;
use hotspot::collector::Lock;
use hotspot::heap::Heap;

/// What tells how a refill was served. Its methods run in hooks, on a Java thread in VM state.
#[derive(Clone, Copy)]
pub(crate) struct Watch {
    pub(crate) control: &'static Control,
    pub(crate) heap: &'static Heap,
    pub(crate) lock: Lock,
}

/// A refill under way.
pub(crate) struct Begun {
    ns: u64,
    pauses: u64,
}

impl Watch {
    /// Begins a refill, if it may be recorded.
    #[inline(always)]
    pub(crate) fn begin(&self) -> Option<Begun> {
        if are_wanted() { Some(self.look()) } else { None }
    }

    #[cold]
    #[inline(never)]
    fn look(&self) -> Begun {
        Begun { pauses: self.control.pauses(), ns: Monotonic::now() }
    }

    /// Ends it: `bytes` at `start`, or nothing at 0.
    #[cold]
    #[inline(never)]
    pub(crate) fn end(
        &self,
        begun: &Begun,
        (from, to): (Place, Place),
        direct: bool,
        start: usize,
        bytes: usize,
    ) {
        let took_ns = Monotonic::now() - begun.ns;
        let waited = if self.control.pauses() != begun.pauses {
            Waited::Collection
        } else if from == Place::Heap && self.lock.taken_for(start, self.heap.base()) {
            Waited::Lock
        } else {
            Waited::Unknown
        };
        self.record(&Refill {
            start_ns: begun.ns,
            took_ns,
            from,
            to,
            direct,
            waited,
            bytes: bytes as u64,
            thread: 0,
        });
    }

    /// Records what was timed, for this thread.
    pub(crate) fn record(&self, refill: &Refill) {
        // SAFETY: by the callers' word on a thread that HotSpot knows.
        let thread = unsafe { self.heap.current_thread() } as u64;
        record(&Refill { thread, ..*refill });
    }
}
