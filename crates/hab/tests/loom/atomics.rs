//! Words that loom watches.
#![allow(clippy::disallowed_types, reason = "an implementation of the hierarchy's words")]

use loom::sync::atomic::{AtomicU64, AtomicUsize};
use terrace_hab::atomics::{Atomics, Ordering, Word};

#[derive(Debug)]
pub enum Loom {}

impl Atomics for Loom {
    type Word = Watched;
    /// Not watched: any value of such a word is a right one.
    type Relaxed = std::sync::atomic::AtomicU64;
}

#[derive(Debug)]
pub struct Watched {
    value: AtomicU64,
    /// Touched before each access. Loom tries another order of two accesses only if the later one conflicts with the last one
    /// before it: a load hides from its own thread's exchange that another thread's access came before, and loom would miss
    /// whole interleavings. Accesses of this word all conflict, order nothing, and leave every old value to the load.
    turn: AtomicUsize,
}

impl Watched {
    fn value(&self) -> &AtomicU64 {
        // Relaxed: see the field.
        self.turn.fetch_add(0, Ordering::Relaxed);
        &self.value
    }
}

impl Word for Watched {
    fn new(value: u64) -> Self {
        Watched { value: AtomicU64::new(value), turn: AtomicUsize::new(0) }
    }

    fn load(&self, order: Ordering) -> u64 {
        self.value().load(order)
    }

    fn store(&self, value: u64, order: Ordering) {
        self.value().store(value, order);
    }

    fn add(&self, amount: u64, order: Ordering) {
        self.value().fetch_add(amount, order);
    }

    fn exchange(&self, old: u64, new: u64, success: Ordering, failure: Ordering) -> bool {
        self.value().compare_exchange_weak(old, new, success, failure).is_ok()
    }
}
