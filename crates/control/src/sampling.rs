//! Which requests are timed where they come often: all are counted, and one of so many is timed.
//!
//! Reading a clock twice takes longer than counting does. So a domain times all of its requests while they come rarely, and the oftener they come the fewer of them. How
//! many are passed over is drawn at random: requests repeat (every 256th begins a region), and a fixed step would see always the same of them. What is timed stands for
//! itself and for those of its kind and way that were passed over since the last one, so that sums and percentiles are those of all requests.
#![allow(clippy::disallowed_types, reason = "the words are shared with another process")]

use crate::request::{Kind, Way};
use hab::atomics::Word;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// At most so many requests are passed over for one that is timed, in the mean.
const MOST: u32 = 1 << 12;

/// What a request's begin is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// It is timed, whatever comes.
    Timed,
    /// It is timed if it turns out to be a slow one.
    IfSlow,
    /// It is counted. Reading its begin would cost more than it tells.
    Counted,
}

/// How a clock is used.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Ticks between two requests of a domain that are timed: two thousand to ten thousand a second.
    pub ticks_apart: u64,
    /// The begin of every request is read while no more than so many are passed over for one.
    pub begins_up_to: u32,
}

/// What one domain remembers of this. All of it may have any value at any time: others map the memory, too.
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Sampling {
    /// Requests to pass over.
    left: AtomicU32,
    /// How many there are for one that is timed, in the mean.
    every: AtomicU32,
    random: AtomicU64,
    /// When the last one was timed, in ticks.
    last: AtomicU64,
    /// Requests that were passed over, and that none stands for yet.
    passed: [[AtomicU64; Way::ALL.len()]; Kind::ALL.len()],
}

impl Sampling {
    /// What a request is looked at for.
    // Relaxed, here and below: statistics publish nothing, and which of the requests are timed is left to chance anyway.
    #[inline(always)]
    pub(crate) fn look(&self, pace: Pace) -> Look {
        match self.left.load(Ordering::Relaxed) {
            0 => {
                self.draw();
                Look::Timed
            }
            left => {
                self.left.store(left - 1, Ordering::Relaxed);
                match self.every.load(Ordering::Relaxed) <= pace.begins_up_to {
                    true => Look::IfSlow,
                    false => Look::Counted,
                }
            }
        }
    }

    fn every(&self) -> u32 {
        self.every.load(Ordering::Relaxed).clamp(1, MOST)
    }

    /// How many to pass over next: 0 to `2 * every - 2`, each as likely.
    fn draw(&self) {
        // Knuth's MMIX; its high bits are the random ones.
        let random = (self.random.load(Ordering::Relaxed))
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.random.store(random, Ordering::Relaxed);
        let bound = u64::from(2 * self.every() - 1);
        self.left.store((((random >> 32) * bound) >> 32) as u32, Ordering::Relaxed);
    }

    /// A request that was looked at as [`Look::Timed`] has ended now: the next ones follow at a distance.
    #[inline(always)]
    pub(crate) fn follow(&self, now: u64, pace: Pace) {
        let (every, since) = (self.every(), now.saturating_sub(self.last.load(Ordering::Relaxed)));
        self.last.store(now, Ordering::Relaxed);
        let next = if since < pace.ticks_apart / 2 {
            (every * 2).min(MOST)
        } else if since > pace.ticks_apart.saturating_mul(2) {
            (every / 2).max(1)
        } else {
            every
        };
        self.every.store(next, Ordering::Relaxed);
    }

    /// Passes a request over. `alone`: the domain has one CPU, and a plain addition does.
    #[inline(always)]
    pub(crate) fn pass(&self, kind: Kind, way: Way, alone: bool) {
        let passed = &self.passed[kind as usize][way as usize];
        if alone {
            passed.add_on_own_cpu(1);
        } else {
            passed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many requests one that was timed stands for, which from now on none does.
    #[inline(always)]
    pub(crate) fn take(&self, kind: Kind, way: Way) -> u64 {
        let passed = &self.passed[kind as usize][way as usize];
        match passed.load(Ordering::Relaxed) {
            0 => 1,
            _ => passed.swap(0, Ordering::Relaxed).wrapping_add(1),
        }
    }

    /// Requests that none stands for yet.
    pub(crate) fn passed(&self, kind: Kind, way: Way) -> u64 {
        self.passed[kind as usize][way as usize].load(Ordering::Relaxed)
    }
}

#[cfg(test)]
#[path = "sampling_test.rs"]
mod tests;
