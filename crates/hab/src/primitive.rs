//! The only place that names atomics: the same source runs on the processor, under loom, and on a simulated memory.
//!
//! A third implementation is one more `cfg` here; nothing else in the crate knows which one is in force. The wrappers have just
//! the operations that the protocol uses, each with its order named by the caller.
#![allow(clippy::disallowed_types, reason = "this is the module that the lint points to")]

#[cfg(not(loom))]
use core::sync::atomic as implementation;
#[cfg(loom)]
use loom::sync::atomic as implementation;

pub(crate) use implementation::{Ordering, fence};

/// A word of 64 bits.
#[derive(Debug)]
#[cfg_attr(not(loom), repr(transparent))]
pub(crate) struct Atomic64(implementation::AtomicU64);

impl Atomic64 {
    #[inline(always)]
    pub(crate) fn new(value: u64) -> Self {
        Atomic64(implementation::AtomicU64::new(value))
    }

    #[inline(always)]
    pub(crate) fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }

    #[inline(always)]
    pub(crate) fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
    }

    #[inline(always)]
    pub(crate) fn fetch_add(&self, amount: u64, order: Ordering) -> u64 {
        self.0.fetch_add(amount, order)
    }

    /// Stores `new` if the word still is `old`; may fail without a reason.
    #[inline(always)]
    pub(crate) fn exchange(&self, old: u64, new: u64, success: Ordering, failure: Ordering) -> bool {
        self.0.compare_exchange_weak(old, new, success, failure).is_ok()
    }
}
