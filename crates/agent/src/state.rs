//! What all parts of the agent may ask: when it was loaded, and where its control memory is.
#![allow(clippy::disallowed_types, reason = "found by threads that know nothing of each other")]

use control::Control;
use std::sync::atomic::{AtomicPtr, Ordering};

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
