//! Atomics that a simulation watches.
//!
//! A word here is a real atomic, so that
//! code on it works without a simulator too; before each access the [`watch`]er of this thread of the operating system is told, and
//! it returns when the access's moment in simulated time has come. A simulator runs all its simulated threads on one thread of the
//! operating system, so that whatever happens between two calls of the watcher is one step.
#![allow(clippy::disallowed_types, reason = "an implementation of the module that the lint points to")]

use hab::atomics::{Atomics, Word};
use std::cell::Cell;
use std::sync::atomic;

pub use atomic::Ordering;

/// What is done to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A plain load.
    Load,
    /// A plain store.
    Store,
    /// A locked instruction: reads and writes the word in one step.
    Locked,
    /// A fence for stores and loads; of no word.
    Fence,
    /// Told after a compare and swap that found another value.
    Lost,
}

/// Is told of an access before it happens: the word's address, and what is done to it.
pub type Watcher = fn(usize, Access);

thread_local! {
    static WATCHER: Cell<Option<Watcher>> = const { Cell::new(None) };
}

/// From now on `watcher` is told of each access by this thread; gives back who was told before.
pub fn watch(watcher: Option<Watcher>) -> Option<Watcher> {
    WATCHER.replace(watcher)
}

#[inline(always)]
fn tell(address: usize, access: Access) {
    if let Some(watcher) = WATCHER.get() {
        watcher(address, access);
    }
}

/// A fence, told to the watcher if it orders stores before loads; others cost nothing on the machines that are simulated.
#[inline]
pub fn fence(order: Ordering) {
    if order == Ordering::SeqCst {
        tell(0, Access::Fence);
    }
    atomic::fence(order);
}

/// A watched word of 64 bits. Orders matter to the real word only: in a simulation one access follows the other.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct AtomicU64(atomic::AtomicU64);

impl AtomicU64 {
    /// A word with this value.
    pub const fn new(value: u64) -> AtomicU64 {
        AtomicU64(atomic::AtomicU64::new(value))
    }

    fn address(&self) -> usize {
        (&raw const *self).addr()
    }

    /// The value, without telling the watcher: for who looks at a simulation from outside.
    pub fn peek(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// The value.
    #[inline]
    pub fn load(&self, order: Ordering) -> u64 {
        tell(self.address(), Access::Load);
        self.0.load(order)
    }

    /// Stores a value.
    #[inline]
    pub fn store(&self, value: u64, order: Ordering) {
        tell(self.address(), Access::Store);
        self.0.store(value, order);
    }

    /// Adds, and gives the value before.
    #[inline]
    pub fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        tell(self.address(), Access::Locked);
        self.0.fetch_add(value, order)
    }

    /// Stores `new` if the word is `current`; never fails without a reason.
    ///
    /// # Errors
    /// The value found instead.
    #[inline]
    pub fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        tell(self.address(), Access::Locked);
        let found = self.0.compare_exchange(current, new, success, failure);
        if found.is_err() {
            tell(self.address(), Access::Lost);
        }
        found
    }

    /// As [`AtomicU64::compare_exchange`].
    ///
    /// # Errors
    /// The value found instead.
    #[inline]
    pub fn compare_exchange_weak(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        self.compare_exchange(current, new, success, failure)
    }
}

/// What `crates/hab` is simulated on: every word is watched.
#[derive(Debug)]
pub enum Watched {}

impl Atomics for Watched {
    type Word = AtomicU64;
    type Relaxed = AtomicU64;
}

impl Word for AtomicU64 {
    #[inline]
    fn new(value: u64) -> Self {
        AtomicU64::new(value)
    }

    #[inline]
    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }

    #[inline]
    fn store(&self, value: u64, order: Ordering) {
        self.store(value, order);
    }

    #[inline]
    fn add(&self, amount: u64, order: Ordering) {
        self.fetch_add(amount, order);
    }

    /// As on the machines that are simulated, whatever machine simulates them.
    #[inline]
    fn add_on_own_cpu(&self, amount: u64) {
        self.store(self.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }

    #[inline]
    fn exchange(&self, old: u64, new: u64, success: Ordering, failure: Ordering) -> bool {
        self.compare_exchange_weak(old, new, success, failure).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static SEEN: Cell<Vec<Access>> = const { Cell::new(Vec::new()) };
    }

    fn note(_: usize, access: Access) {
        let mut seen = SEEN.take();
        seen.push(access);
        SEEN.set(seen);
    }

    #[test]
    fn every_access_is_told_before_it_happens_and_a_lost_exchange_after() {
        let word = AtomicU64::new(1);
        assert!(watch(Some(note)).is_none());
        assert_eq!(word.fetch_add(1, Ordering::Relaxed), 1);
        word.store(5, Ordering::Release);
        assert_eq!(word.load(Ordering::Acquire), 5);
        assert_eq!(word.compare_exchange(4, 6, Ordering::AcqRel, Ordering::Relaxed), Err(5));
        assert_eq!(word.compare_exchange_weak(5, 6, Ordering::AcqRel, Ordering::Relaxed), Ok(5));
        fence(Ordering::Acquire);
        fence(Ordering::SeqCst);
        watch(None);
        word.store(7, Ordering::Relaxed);
        use Access::{Fence, Load, Locked, Lost, Store};
        assert_eq!(SEEN.take(), [Locked, Store, Load, Locked, Lost, Locked, Fence]);
    }
}
