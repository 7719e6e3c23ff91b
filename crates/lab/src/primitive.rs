//! The only place of this crate that names atomics.
#![allow(clippy::disallowed_types, reason = "this is the module that the lint points to")]

pub(crate) use core::sync::atomic::Ordering;

/// A counter of the kernels.
pub(crate) type Counter = core::sync::atomic::AtomicU64;

/// Tells threads to stop.
pub(crate) type Flag = core::sync::atomic::AtomicBool;
