//! Whose TLABs a collection finds unused: all threads are looked at when it begins, as often as that takes little of the time.
#![allow(clippy::disallowed_types, reason = "the observer is shared by all threads")]

use control::View;
use control::thread_waste::{Left, MOST_THREADS, Tlab};
use hotspot::accounts::{Account, Accounts};
use std::sync::atomic::{AtomicU64, Ordering};

/// After a look none is taken for so many times as long: they take half a percent of the time at most.
const SPARING: u64 = 200;

/// Looks at threads, at safepoints.
pub(crate) struct ThreadLooks {
    accounts: Accounts,
    now: fn() -> u64,
    /// When the next one is due, in ticks.
    due: AtomicU64,
}

impl ThreadLooks {
    /// By this clock.
    pub(crate) fn new(accounts: Accounts, now: fn() -> u64) -> ThreadLooks {
        ThreadLooks { accounts, now, due: AtomicU64::new(0) }
    }

    /// Looks at all threads, if it is time. `began`: now.
    ///
    /// # Safety
    /// On the VM thread, at a safepoint.
    pub(crate) unsafe fn look(&self, view: &View, began: u64) {
        let Some(waste) = view.thread_waste() else { return };
        // Relaxed: the VM thread alone reads and writes it.
        // SAFETY: the caller's.
        if began < self.due.load(Ordering::Relaxed) || unsafe { self.accounts.count() } > MOST_THREADS {
            return;
        }
        waste.begin();
        // SAFETY: the caller's; the safepoint lasts longer than this call.
        let accounts = unsafe { self.accounts.each() };
        for Account { thread, allocated, tlab_start, tlab_left, refill_waste } in accounts {
            let left = Left { at_collection: tlab_left as u64, at_refills: refill_waste };
            waste.see(thread as u64, Tlab { allocated, start: tlab_start as u64, left });
        }
        let ended = (self.now)();
        self.due.store(ended + ended.saturating_sub(began) * SPARING, Ordering::Relaxed);
    }
}
