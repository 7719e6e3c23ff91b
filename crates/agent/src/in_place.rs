//! What an installation has put into the heap's vtable, until HotSpot's own functions are back there.
#![allow(clippy::disallowed_types, reason = "several threads may mean to take it back")]

use crate::lease::Lease;
use control::{Control, State};
use hotspot::Error;
use hotspot::patch::{Exchange, Unlocked};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// So many pauses may pass until what has often failed is tried again.
const MOST_PAUSES: u64 = 64;

pub(crate) struct InPlace {
    control: &'static Control,
    exchanges: Mutex<Vec<Exchange>>,
    /// How often it failed in a hook or at a safepoint.
    failures: AtomicU64,
    /// Before so many pauses it is not tried there again.
    again: AtomicU64,
    /// What has to be done when nothing is in place any more.
    forget: fn(),
    /// How long it stays without being asked for.
    pub(crate) lease: Lease,
}

impl InPlace {
    /// Nothing yet. `forget` is called when HotSpot's own functions are back.
    pub(crate) fn nothing(control: &'static Control, forget: fn()) -> InPlace {
        let lease = Lease::begin(control);
        let (failures, again) = (AtomicU64::new(0), AtomicU64::new(0));
        InPlace { control, exchanges: Mutex::default(), failures, again, forget, lease }
    }

    /// For whoever puts it in place.
    pub(crate) fn exchanges(&self) -> MutexGuard<'_, Vec<Exchange>> {
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing is.
    pub(crate) fn is_back(&self) -> bool {
        self.exchanges().is_empty()
    }

    /// Puts HotSpot's own functions back. From then on there is no agent, but for threads that are in its hooks. May wait for a thread
    /// that does the same. Whoever calls it knows that nothing is lost without the hooks.
    pub(crate) fn take_back(&self) -> Result<(), String> {
        self.step_aside()?;
        // On a thread that no safepoint waits for, and so with the file.
        self.control.set_state(State::Withdrawn);
        Ok(())
    }

    /// The same for who may come back: it is not said to have withdrawn.
    pub(crate) fn step_aside(&self) -> Result<(), String> {
        self.back(&mut self.exchanges(), Unlocked::of).map(drop).map_err(cannot)
    }

    /// The same in a hook or at a safepoint, where nobody waits. What fails is said in the control memory, once, and tried again one pause later, then
    /// 2, 4, and up to [`MOST_PAUSES`]: it would cost each request of a JVM that forbids it, and the process's maps, which are read for it, can be long.
    #[cold]
    #[inline(never)]
    pub(crate) fn try_take_back(&self) {
        let pauses = self.control.pauses();
        // Relaxed: whoever has not seen a failure yet fails once more.
        if pauses < self.again.load(Ordering::Relaxed) {
            return;
        }
        let mut exchanges = match self.exchanges.try_lock() {
            Ok(exchanges) => exchanges,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        match self.back(&mut exchanges, Unlocked::at_once) {
            Ok(true) => self.control.set_state_in_memory(State::Withdrawn),
            // A thread that is late in a hook. Or whoever is at work needs microseconds: the next request tries again.
            Ok(false) | Err(Error::Busy) => {}
            Err(error) => {
                // Relaxed: both are changed by who has the exchanges alone.
                let failures = self.failures.fetch_add(1, Ordering::Relaxed);
                let skipped = MOST_PAUSES.min(1 << failures.min(63));
                self.again.store(pauses.saturating_add(skipped), Ordering::Relaxed);
                let line = cannot(error);
                if !self.control.message().ends_with(&line) {
                    self.control.set_message(&line);
                }
            }
        }
    }

    /// Whether there was anything in place. Where one entry cannot be put back because somebody else has just changed it, all stay in place, and the agent with
    /// them: another agent's hook calls ours, and buffers must not serve where nothing fills their tails.
    fn back(
        &self,
        exchanges: &mut Vec<Exchange>,
        unlock: impl for<'a> Fn(&'a [Exchange]) -> Result<Unlocked<'a>, Error>,
    ) -> Result<bool, Error> {
        if exchanges.is_empty() {
            return Ok(false);
        }
        // The last first: as it was put in place, the other way round.
        let back: Vec<Exchange> = exchanges.iter().rev().map(|exchange| exchange.back()).collect();
        let unlocked = unlock(&back)?;
        // SAFETY: HotSpot's own functions, of the entries' types.
        unsafe { unlocked.exchange()? };
        exchanges.clear();
        (self.forget)();
        Ok(true)
    }
}

fn cannot(error: Error) -> String {
    format!("cannot withdraw the agent: {error}")
}

#[cfg(test)]
#[allow(clippy::disallowed_types, reason = "words like those of a vtable")]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, AtomicUsize};

    const OURS: usize = 7;
    const THEIRS: usize = 9;

    /// Somebody else's function stays in an entry until it is gone.
    #[test]
    fn what_fails_in_a_pause_is_tried_in_few_of_the_later_ones() {
        let word: &'static AtomicUsize = Box::leak(Box::new(AtomicUsize::new(0)));
        let control = Box::leak(Box::new(Control::anonymous(&[1]).unwrap()));
        let in_place = InPlace::nothing(control, || ());
        let exchanges = [Exchange::of(word, OURS, "function")];
        // SAFETY: nobody calls through this word.
        unsafe { Unlocked::of(&exchanges).unwrap().exchange().unwrap() };
        *in_place.exchanges() = exchanges.into();
        // Relaxed, here and below: one thread.
        word.store(THEIRS, Ordering::Relaxed);
        let mut tried = Vec::new();
        for pause in 0..300 {
            let before = in_place.failures.load(Ordering::Relaxed);
            (0..3).for_each(|_| in_place.try_take_back());
            tried.extend((in_place.failures.load(Ordering::Relaxed) > before).then_some(pause));
            control.count_pause();
        }
        assert_eq!(tried, [0, 1, 3, 7, 15, 31, 63, 127, 191, 255]);
        word.store(OURS, Ordering::Relaxed);
        while !in_place.is_back() {
            in_place.try_take_back();
            control.count_pause();
        }
        assert_eq!((word.load(Ordering::Relaxed), control.state()), (0, Some(State::Withdrawn)));
    }

    /// Another agent, which changes an entry after it was looked at.
    #[test]
    fn nobody_is_forgotten_while_a_hook_is_in_place() {
        static FORGOTTEN: AtomicU32 = AtomicU32::new(0);
        // Relaxed, here and below: one thread.
        let forget = || {
            FORGOTTEN.fetch_add(1, Ordering::Relaxed);
        };
        for taken in 0..3 {
            FORGOTTEN.store(0, Ordering::Relaxed);
            let words: &'static [AtomicUsize; 3] = Box::leak(Box::new([const { AtomicUsize::new(0) }; 3]));
            let found = || words.each_ref().map(|word| word.load(Ordering::Relaxed));
            let control = Box::leak(Box::new(Control::anonymous(&[1]).unwrap()));
            let in_place = InPlace::nothing(control, forget);
            let exchanges = words.each_ref().map(|word| Exchange::of(word, OURS, "function"));
            // SAFETY: nobody calls through these words.
            unsafe { Unlocked::of(&exchanges).unwrap().exchange().unwrap() };
            *in_place.exchanges() = exchanges.into();
            let failed = in_place.back(&mut in_place.exchanges(), |back| {
                let unlocked = Unlocked::of(back);
                words[taken].store(THEIRS, Ordering::Relaxed);
                unlocked
            });
            assert!(failed.is_err(), "{failed:?}");
            let mut left = [OURS; 3];
            left[taken] = THEIRS;
            assert_eq!((found(), FORGOTTEN.load(Ordering::Relaxed)), (left, 0));
            assert!(!in_place.is_back());
            // As long as it stays there.
            assert!(in_place.take_back().unwrap_err().starts_with("cannot withdraw the agent: function is"));
            words[taken].store(OURS, Ordering::Relaxed);
            assert_eq!(in_place.take_back(), Ok(()));
            assert_eq!((found(), FORGOTTEN.load(Ordering::Relaxed)), ([0; 3], 1));
            assert!(in_place.is_back() && control.state() == Some(State::Withdrawn));
        }
    }
}
