//! The only place of this crate that names atomics.
#![allow(clippy::disallowed_types, reason = "this is the module that the lint points to")]

pub use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
