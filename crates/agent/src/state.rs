//! What all parts of the agent may ask: when it was loaded, and where its control memory is.
#![allow(clippy::disallowed_types, reason = "found by threads that know nothing of each other")]

use control::Control;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// For what cannot happen.
pub(crate) const INTERNAL: &str = "internal error: please report it, with the JDK's version";

/// When the agent was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// At the JVM's start.
    Load,
    /// In a running JVM.
    Attach,
}

/// What HotSpot announces, and on which thread.
pub(crate) static ANNOUNCED: Announced = Announced::nothing();

/// Whether collections are still announced, and who does the work at safepoints.
///
/// That all threads stand still says nothing of the thread that asks: G1's concurrent marking runs beside a pause, and calls hooks. What it took out
/// of a buffer it might fill when the pause is long over.
pub(crate) struct Announced {
    /// Not any more.
    ended: AtomicBool,
    /// HotSpot's VM thread (`pthread_self`); 0 until it has announced a collection.
    vm_thread: AtomicUsize,
}

impl Announced {
    const fn nothing() -> Announced {
        Announced { ended: AtomicBool::new(false), vm_thread: AtomicUsize::new(0) }
    }

    /// A collection is announced, on this thread.
    pub(crate) fn collection(&self) {
        // Only ever this value: HotSpot has one such thread.
        self.vm_thread.store(this_thread(), Ordering::Relaxed);
    }

    /// From now on none is.
    pub(crate) fn no_more(&self) {
        // Release: who sees it finds the requests passed on, which was set before.
        self.ended.store(true, Ordering::Release);
    }

    /// Whether this thread, at a safepoint, may retire buffers for a pause that was not announced. Before the first announcement no thread is known,
    /// and the concurrent ones have ended with the announcements (JDK 25 and earlier).
    pub(crate) fn is_unannounced_pause(&self) -> bool {
        let known = self.vm_thread.load(Ordering::Relaxed);
        self.ended.load(Ordering::Acquire) && (known == 0 || known == this_thread())
    }
}

fn this_thread() -> usize {
    // SAFETY: pthread_self has no preconditions.
    unsafe { libc::pthread_self() as usize }
}

/// The control file of the present installation, or of the last that was refused.
static CONTROL: AtomicPtr<Control> = AtomicPtr::new(std::ptr::null_mut());

/// The control file (or its likeness in memory), if it was made.
pub(crate) fn control() -> Option<&'static Control> {
    // SAFETY: null or leaked by `set_control`'s caller.
    unsafe { CONTROL.load(Ordering::Acquire).as_ref() }
}

/// From now on the control file is this one.
pub(crate) fn set_control(control: &'static Control) {
    // Release: who finds it sees it whole.
    CONTROL.store(std::ptr::from_ref(control).cast_mut(), Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_vm_thread_retires_for_a_pause_that_was_not_announced() {
        let announced = Announced::nothing();
        let elsewhere =
            || std::thread::scope(|scope| scope.spawn(|| announced.is_unannounced_pause()).join());
        assert!(!announced.is_unannounced_pause(), "announcements suffice");
        announced.no_more();
        assert!(announced.is_unannounced_pause(), "none has told who it is");
        announced.collection();
        assert!(announced.is_unannounced_pause());
        assert!(!elsewhere().unwrap(), "a concurrent thread beside the pause");
    }
}
