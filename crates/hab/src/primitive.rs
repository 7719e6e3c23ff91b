//! The only place that names atomics: the same source runs on the processor, under loom, and on a simulated memory.
//!
//! A third implementation is one more `cfg` here; nothing else in the crate knows which one is in force.
#![allow(clippy::disallowed_types, reason = "this is the module that the lint points to")]

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
