//! The only place that names atomics: the same source runs on the processor and under loom.
#![allow(clippy::disallowed_types, reason = "this is the module that the lint points to")]

pub(crate) use std::sync::atomic::Ordering;

#[cfg(loom)]
mod model;

#[cfg(loom)]
pub(crate) use model::{Atomic64, AtomicSize};

/// A word of 64 bits of a protocol.
#[cfg(not(loom))]
pub(crate) type Atomic64 = std::sync::atomic::AtomicU64;
/// A number of bytes of a protocol.
#[cfg(not(loom))]
pub(crate) type AtomicSize = std::sync::atomic::AtomicUsize;
/// Where memory is: of the memory behind the protocols, which loom does not look at.
pub(crate) type Place = std::sync::atomic::AtomicUsize;
/// A statistic, or a number of which only that it is never the same matters. Loom does not look at it, which keeps its search short.
pub(crate) type Count64 = std::sync::atomic::AtomicU64;
