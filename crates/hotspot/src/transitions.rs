//! Whether HotSpot tells JVMTI when a virtual thread is mounted and unmounted.
//!
//! A JVM begins without. Since 21 it does so from the moment on that any agent gets a JVMTI environment (`JvmtiExport::get_jvmti_interface`),
//! whatever that agent wants to know, and each switch of a virtual thread takes a call into HotSpot more. An agent that comes later, by
//! attach, has it switched on in a JVM that was without: HotSpot is made for that (`JvmtiEnvBase::enable_virtual_threads_notify_jvmti`).

use crate::library::Library;
use crate::slots;
use crate::structs::peek;

/// `JvmtiVTMSTransitionDisabler::_VTMS_notify_jvmti_events`, a `bool`, of 21 to 25; `MountUnmountDisabler::_notify_jvmti_events` since.
const NOTIFIES: [&str; 2] = [
    "_ZN27JvmtiVTMSTransitionDisabler25_VTMS_notify_jvmti_eventsE",
    "_ZN20MountUnmountDisabler20_notify_jvmti_eventsE",
];
/// An `int`: how many want virtual threads to take the slow way, since 26. With JVMTI it is one more.
const DISABLED: &str = "_ZN20MountUnmountDisabler40_global_vthread_transition_disable_countE";
/// All symbols, for [`Transitions::of`].
pub(crate) const SYMBOLS: [&str; 3] = [NOTIFIES[0], NOTIFIES[1], DISABLED];

/// The words of HotSpot that say so; without one there is nothing to read, and nothing to change.
#[derive(Clone, Copy, Debug)]
pub struct Transitions {
    /// Addresses in this process.
    flag: Option<usize>,
    count: Option<usize>,
}

/// How they were at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    notifies: bool,
    disabled: i32,
}

impl Transitions {
    /// By the addresses of [`SYMBOLS`], in their order.
    pub(crate) fn of([until_25, since_26, disabled]: [Option<usize>; 3]) -> Transitions {
        match (until_25, since_26.zip(disabled)) {
            (None, Some((flag, count))) => Transitions { flag: Some(flag), count: Some(count) },
            (flag, _) => Transitions { flag, count: None },
        }
    }

    /// That of this process, by a pass over the symbols of its own: for a JVM of which nothing else is known.
    pub fn find() -> Transitions {
        let places = || {
            let library = Library::find().ok()?;
            let symbols = library.symbols().ok()?;
            let names = slots::find(&symbols, &[], &SYMBOLS, None).ok()?;
            let place =
                |at: usize| names.others.get(at).copied().flatten().map(|place| place + library.base());
            Some([0, 1, 2].map(place))
        };
        Transitions::of(places().unwrap_or_default())
    }

    /// Whether JVMTI is told of them now, and how many have them take the slow way.
    pub fn look(&self) -> Told {
        // SAFETY: the symbol table says that there is a bool.
        let notifies = self.flag.is_some_and(|flag| unsafe { peek::<u8>(flag) } != 0);
        // SAFETY: the symbol table says that there is an int.
        let disabled = self.count.map_or(0, |count| unsafe { peek::<i32>(count) });
        Told { notifies, disabled }
    }

    /// Has JVMTI not be told, and the fast way taken, as in a JVM without an agent: as it was before the caller got an environment. Where JVMTI was told
    /// then, for others, it stays so.
    ///
    /// # Safety
    /// One thread runs, no virtual thread has begun (`Agent_OnLoad`), and nobody but the caller has made HotSpot tell since `before`; the caller's
    /// environment must ask for no event of a thread.
    pub unsafe fn put_back(&self, before: Told) {
        if before.notifies {
            return;
        }
        if let Some(flag) = self.flag {
            // SAFETY: a bool in HotSpot's writable memory, which no other thread reads now (the caller's promise).
            unsafe { std::ptr::with_exposed_provenance_mut::<u8>(flag).write(0) };
        }
        if let Some(count) = self.count {
            // SAFETY: an int in HotSpot's writable memory, as above. It belongs to the flag: both or neither.
            unsafe { std::ptr::with_exposed_provenance_mut::<i32>(count).write(before.disabled) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_put_back() {
        let (mut flag, mut count) = (0_u8, 0_i32);
        let places = [(&raw mut flag).expose_provenance(), (&raw mut count).expose_provenance()].map(Some);
        let found = Transitions::of([None, places[0], places[1]]);
        let before = found.look();
        (flag, count) = (1, 1);
        assert_ne!(found.look(), before);
        // SAFETY: this thread alone knows of it.
        unsafe { found.put_back(before) };
        assert_eq!((found.look(), flag, count), (before, 0, 0));
        // Another agent was there before: it needs to be told.
        (flag, count) = (1, 1);
        let before = found.look();
        // SAFETY: as above.
        unsafe { found.put_back(before) };
        assert_eq!((flag, count), (1, 1));
    }

    #[test]
    fn the_words_of_a_version_belong_together() {
        let of = |places| {
            let found = Transitions::of(places);
            (found.flag, found.count)
        };
        assert_eq!(of([Some(1), None, None]), (Some(1), None));
        assert_eq!(of([None, Some(2), Some(3)]), (Some(2), Some(3)));
        assert_eq!(of([None, Some(2), None]), (None, None), "one without the other is another version");
    }
}
