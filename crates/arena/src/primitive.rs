//! The only place that names atomics: real ones, or loom's.
#![allow(clippy::disallowed_types, reason = "this is the module that the lint points to")]

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
