//! The only place of this crate that names atomics.
#![allow(clippy::disallowed_types, reason = "this is the module that the lint points to")]

pub(crate) use core::sync::atomic::{AtomicI32, Ordering};

/// A word of memory that another process writes.
pub(crate) type SharedWord = core::sync::atomic::AtomicU64;
