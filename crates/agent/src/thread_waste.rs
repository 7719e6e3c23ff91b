//! Whose TLABs a collection finds unused: all threads are looked at when it begins, and again whether it has retired their TLABs when it ends, as often as that takes little of the time.
#![allow(clippy::disallowed_types, reason = "the observer is shared by all threads")]

use control::View;
use control::thread_waste::{Left, MOST_THREADS};
use hotspot::accounts::{Account, Accounts};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// After a look none is taken for so many times as long: they take a thousandth of the time at most.
const SPARING: u64 = 1000;

/// Looks at threads, for collectors whose pauses begin and end with the work on TLABs: the VM thread alone.
pub(crate) struct ThreadLooks {
    accounts: Accounts,
    now: fn() -> u64,
}

struct Look {
    /// What a collection under way has found; empty if it was not looked at.
    found: Vec<Account>,
    /// How long that took, in ticks.
    took: u64,
    /// When the next one is due.
    due: u64,
}

/// One for all observers, of which there is one at a time: they are never freed.
static LOOK: Mutex<Look> = Mutex::new(Look { found: Vec::new(), took: 0, due: 0 });

fn look() -> MutexGuard<'static, Look> {
    LOOK.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ThreadLooks {
    /// By this clock.
    pub(crate) fn new(accounts: Accounts, now: fn() -> u64) -> ThreadLooks {
        let mut look = look();
        *look = Look { found: std::mem::take(&mut look.found), took: 0, due: 0 };
        // Of an observer before, which went while a collection was under way: its threads may have gone, too.
        look.found.clear();
        // At a safepoint no memory is asked for.
        look.found.reserve(MOST_THREADS);
        ThreadLooks { accounts, now }
    }

    /// A collection begins: looks at all threads, if it is time. `began`: now.
    ///
    /// # Safety
    /// On the VM thread, at a safepoint.
    pub(crate) unsafe fn begin(&self, began: u64) {
        let mut look = look();
        // Of a collection whose end nobody has seen.
        look.found.clear();
        // SAFETY: the caller's.
        if began < look.due || unsafe { self.accounts.count() } > MOST_THREADS {
            return;
        }
        // SAFETY: the caller's; the safepoint lasts longer than this call.
        look.found.extend(unsafe { self.accounts.each() }.take(MOST_THREADS));
        let ended = (self.now)();
        look.took = ended.saturating_sub(began);
        look.due = ended + look.took * SPARING;
    }

    /// It ends. Pauses of a concurrent cycle retire nothing: what was found is still in use then.
    ///
    /// # Safety
    /// On the VM thread, at the same safepoint.
    pub(crate) unsafe fn end(&self, view: &View) {
        let mut look = look();
        // Nobody had a TLAB: nothing was left.
        let Some(one) = look.found.iter().find(|account| account.tlab_start > 0).copied() else { return };
        let began = (self.now)();
        // SAFETY: the caller's; it was read at this safepoint.
        if let Some(waste) = view.thread_waste().filter(|_| unsafe { self.accounts.is_retired(&one) }) {
            waste.begin();
            for Account { thread, allocated, tlab_used, tlab_left, refill_waste, .. } in look.found.drain(..)
            {
                let left = Left { at_collection: tlab_left as u64, at_refills: refill_waste };
                waste.add(thread as u64, allocated + tlab_used as u64, left);
            }
        }
        look.found.clear();
        let ended = (self.now)();
        look.due = ended + (look.took + ended.saturating_sub(began)) * SPARING;
    }
}
