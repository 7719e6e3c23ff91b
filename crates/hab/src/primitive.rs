//! The only place that names atomics: the same source runs on the processor, under loom, and on a simulated memory.
//!
//! The last is the package `terrace-hab-simulated`, which compiles this source with the feature `simulated`; nothing else in the
//! crate knows which one is in force. The wrappers have just the operations that the protocol uses, each with its order named by the
//! caller.
#![allow(clippy::disallowed_types, reason = "this is the module that the lint points to")]

#[cfg(not(any(loom, feature = "simulated")))]
use core::sync::atomic as implementation;
#[cfg(loom)]
use loom::sync::atomic as implementation;
#[cfg(feature = "simulated")]
use simulated as implementation;

#[cfg(not(feature = "simulated"))]
use core::sync::atomic::AtomicU64;
#[cfg(feature = "simulated")]
use simulated::AtomicU64;

pub(crate) use implementation::Ordering;

/// A word of 64 bits of the protocol.
#[derive(Debug)]
#[cfg_attr(not(loom), repr(transparent))]
pub(crate) struct Atomic64 {
    value: implementation::AtomicU64,
    /// Touched before each access. Loom tries another order of two accesses only if the later one conflicts with the last one
    /// before it: a load hides from its own thread's exchange that another thread's access came before, and loom would miss
    /// whole interleavings. Accesses of this word all conflict, order nothing, and leave every old value to the load.
    #[cfg(loom)]
    turn: implementation::AtomicUsize,
}

impl Atomic64 {
    #[inline(always)]
    pub(crate) fn new(value: u64) -> Self {
        Atomic64 {
            value: implementation::AtomicU64::new(value),
            #[cfg(loom)]
            turn: implementation::AtomicUsize::new(0),
        }
    }

    #[inline(always)]
    fn value(&self) -> &implementation::AtomicU64 {
        // Relaxed: see the field.
        #[cfg(loom)]
        self.turn.fetch_add(0, Ordering::Relaxed);
        &self.value
    }

    #[inline(always)]
    pub(crate) fn load(&self, order: Ordering) -> u64 {
        self.value().load(order)
    }

    #[inline(always)]
    pub(crate) fn store(&self, value: u64, order: Ordering) {
        self.value().store(value, order);
    }

    /// Stores `new` if the word still is `old`; may fail without a reason.
    #[inline(always)]
    pub(crate) fn exchange(&self, old: u64, new: u64, success: Ordering, failure: Ordering) -> bool {
        self.value().compare_exchange_weak(old, new, success, failure).is_ok()
    }
}

/// A word of 64 bits of which any value is a right one, old or new: a statistic or a setting. Every access is relaxed, and loom
/// does not look at it, which keeps its search short.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Relaxed64(AtomicU64);

impl Relaxed64 {
    #[inline(always)]
    pub(crate) fn new(value: u64) -> Self {
        Relaxed64(AtomicU64::new(value))
    }

    #[inline(always)]
    pub(crate) fn load(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(crate) fn store(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::Relaxed);
    }
}
