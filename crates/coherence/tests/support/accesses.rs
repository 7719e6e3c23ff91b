//! What accesses take on the machine of the tests, in picoseconds, and how long one took.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use terrace_coherence::simulation::{now, work};
use terrace_coherence::watched::{AtomicU64, Ordering};

pub const LOAD: u64 = 2_000;
pub const STORE: u64 = 500;
pub const LOCKED: u64 = 10_000;
pub const DRAIN: u64 = 8_000;
pub const L3: u64 = 20_000;
pub const NEAR: u64 = 30_000;
pub const FAR: u64 = 150_000;
pub const MEMORY: u64 = 80_000;
pub const FAR_MEMORY: u64 = 140_000;
/// How long a locked instruction keeps a line that has just come.
pub const HOLD: u64 = LOCKED - DRAIN;
pub const MICROSECOND: u64 = 1_000_000;

pub fn took(access: impl FnOnce()) -> u64 {
    let begin = now();
    access();
    now() - begin
}

pub fn load(word: &AtomicU64) -> u64 {
    took(|| _ = word.load(Ordering::Relaxed))
}

pub fn store(word: &AtomicU64) -> u64 {
    took(|| word.store(1, Ordering::Relaxed))
}

pub fn locked(word: &AtomicU64) -> u64 {
    took(|| _ = word.fetch_add(1, Ordering::Relaxed))
}

/// Works until a moment. The core's other threads make work slower: up to the moment, whatever that takes.
pub fn at(moment: u64) {
    while now() < moment {
        work(1);
    }
}
