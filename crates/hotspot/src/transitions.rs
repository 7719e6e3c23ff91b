//! Whether HotSpot tells JVMTI when a virtual thread is mounted and unmounted.
//!
//! A JVM begins without. Since 21 it does so from the moment on that any agent gets a JVMTI environment (`JvmtiExport::get_jvmti_interface`),
//! whatever that agent wants to know, and each switch of a virtual thread takes a call into HotSpot more. An agent that comes later, by
//! attach, has it switched on in a JVM that was without: HotSpot is made for that (`JvmtiEnvBase::enable_virtual_threads_notify_jvmti`).

use crate::library::Library;
use crate::slots;
use crate::structs::peek;
use crate::symbols::Symbols;

/// `JvmtiVTMSTransitionDisabler::_VTMS_notify_jvmti_events`, a `bool`, of 21 to 25; later versions have something else.
pub(crate) const NOTIFIES: &str = "_ZN27JvmtiVTMSTransitionDisabler25_VTMS_notify_jvmti_eventsE";

/// The flag; without one there is nothing to read, and nothing to change.
#[derive(Clone, Copy, Debug)]
pub struct Transitions {
    /// Its address in this process.
    flag: Option<usize>,
}

impl Transitions {
    pub(crate) fn at(flag: Option<usize>) -> Transitions {
        Transitions { flag }
    }

    /// That of this process, by a pass over the symbols of its own: for a JVM of which nothing else is known.
    pub fn find() -> Transitions {
        let flag = || {
            let library = Library::find().ok()?;
            let symbols = Symbols::open(library.path()).ok()?;
            library.check(&symbols).ok()?;
            let names = slots::find(&symbols, &[], &[NOTIFIES], None).ok()?;
            Some(names.others.first().copied().flatten()? + library.base())
        };
        Transitions::at(flag())
    }

    /// Whether JVMTI is told of them now.
    pub fn are_told(&self) -> bool {
        // SAFETY: the symbol table says that there is a bool.
        self.flag.is_some_and(|flag| unsafe { peek::<u8>(flag) } != 0)
    }

    /// Has JVMTI not be told, as in a JVM without an agent.
    ///
    /// # Safety
    /// One thread runs, no virtual thread has begun (`Agent_OnLoad`), and nobody but the caller has made HotSpot tell: it was without before
    /// the caller got an environment, which must ask for no event of a thread.
    pub unsafe fn tell_no_more(&self) {
        if let Some(flag) = self.flag {
            // SAFETY: a bool in HotSpot's writable memory, which no other thread reads now (the caller's promise).
            unsafe { std::ptr::with_exposed_provenance_mut::<u8>(flag).write(0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_read_and_cleared() {
        let mut flag = 1_u8;
        let found = Transitions::at(Some((&raw mut flag).expose_provenance()));
        assert!(found.are_told());
        // SAFETY: this thread alone knows of it.
        unsafe { found.tell_no_more() };
        assert!(!found.are_told());
        assert_eq!(flag, 0);
        assert!(!Transitions::at(None).are_told());
    }
}
