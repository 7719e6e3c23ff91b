//! What the hierarchy's words are made of: the processor's atomics, unless a simulator or a model checker has to see each access.
#![allow(clippy::disallowed_types, reason = "this is the module that the lint points to")]

pub use core::sync::atomic::Ordering;

use core::fmt::Debug;
use core::sync::atomic::AtomicU64;

/// A word of 64 bits. Just the operations that the protocol uses, each with its order named by the caller.
pub trait Word: Debug {
    /// With this value.
    fn new(value: u64) -> Self;

    /// The value.
    fn load(&self, order: Ordering) -> u64;

    /// Stores a value.
    fn store(&self, value: u64, order: Ordering);

    /// Adds, and wraps around.
    fn add(&self, amount: u64, order: Ordering);

    /// Adds where all who add are threads of one CPU, without a locked instruction where the processor has a single one that adds to
    /// memory: on x86-64 no preemption splits it. Elsewhere an addition is a load, an addition and a store, and a thread that was
    /// preempted between them would store an old sum over those of all others: there it is [`Word::add`].
    #[inline(always)]
    fn add_on_own_cpu(&self, amount: u64) {
        // Relaxed, both: a statistic publishes nothing.
        if cfg!(target_arch = "x86_64") {
            self.store(self.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
        } else {
            self.add(amount, Ordering::Relaxed);
        }
    }

    /// Stores `new` if the word still is `old`; may fail without a reason.
    fn exchange(&self, old: u64, new: u64, success: Ordering, failure: Ordering) -> bool;
}

/// A family of words.
pub trait Atomics: Debug + 'static {
    /// A word of the protocol.
    type Word: Word;

    /// A word of which any value is a right one, old or new: a statistic or a setting. Every access is relaxed. A model checker
    /// need not look at it, which keeps its search short.
    type Relaxed: Word;
}

/// The processor's.
#[derive(Debug)]
pub enum Processor {}

impl Atomics for Processor {
    type Word = AtomicU64;
    type Relaxed = AtomicU64;
}

impl Word for AtomicU64 {
    #[inline(always)]
    fn new(value: u64) -> Self {
        AtomicU64::new(value)
    }

    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }

    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        self.store(value, order);
    }

    #[inline(always)]
    fn add(&self, amount: u64, order: Ordering) {
        self.fetch_add(amount, order);
    }

    #[inline(always)]
    fn exchange(&self, old: u64, new: u64, success: Ordering, failure: Ordering) -> bool {
        self.compare_exchange_weak(old, new, success, failure).is_ok()
    }
}
