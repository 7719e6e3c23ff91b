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
