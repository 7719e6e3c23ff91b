//! What an installation has put into the heap's vtable, until HotSpot's own functions are back there.
#![allow(clippy::disallowed_types, reason = "several threads may mean to take it back")]

use control::{Control, State};
use hotspot::patch::{Exchange, Unlocked};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

pub(crate) struct InPlace {
    control: &'static Control,
    exchanges: Mutex<Vec<Exchange>>,
    /// What has to be done when nothing is in place any more.
    forget: fn(),
}

impl InPlace {
    /// Nothing yet. `forget` is called when HotSpot's own functions are back.
    pub(crate) fn nothing(control: &'static Control, forget: fn()) -> InPlace {
        InPlace { control, exchanges: Mutex::default(), forget }
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
        self.back(&mut self.exchanges())
    }

    /// The same in a hook or at a safepoint, where nobody waits. What fails is said in the control memory, once.
    #[cold]
    #[inline(never)]
    pub(crate) fn try_take_back(&self) {
        let mut exchanges = match self.exchanges.try_lock() {
            Ok(exchanges) => exchanges,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if let Err(line) = self.back(&mut exchanges)
            && self.control.message() != line
        {
            self.control.set_message(&line);
        }
    }

    fn back(&self, exchanges: &mut Vec<Exchange>) -> Result<(), String> {
        if exchanges.is_empty() {
            return Ok(());
        }
        // The last first: as it was put in place, the other way round.
        let back: Vec<Exchange> = exchanges.iter().rev().map(|exchange| exchange.back()).collect();
        let unlocked = Unlocked::of(&back).map_err(|error| format!("cannot withdraw the agent: {error}"))?;
        // SAFETY: HotSpot's own functions, of the entries' types.
        unsafe { unlocked.exchange() };
        exchanges.clear();
        (self.forget)();
        self.control.set_state(State::Withdrawn);
        Ok(())
    }
}
