//! The only place that names atomics.
#![allow(clippy::disallowed_types, reason = "this is the module that the lint points to")]

pub(crate) use std::sync::atomic::Ordering;

/// A word of 64 bits.
pub(crate) type Atomic64 = std::sync::atomic::AtomicU64;
/// A number of bytes.
pub(crate) type AtomicSize = std::sync::atomic::AtomicUsize;
