//! Histograms of the requests that the agent passed on, in each domain: of times, for each kind of request and each way to the heap, and of large objects' sizes.
//!
//! A histogram is log-linear: four buckets an octave, so that a bucket's bounds are at most a quarter apart. Where requests come often, one of so many is timed and stands
//! for the others ([`crate::sampling`]); their number is exact all the same.
#![allow(clippy::disallowed_types, reason = "the words are shared with another process")]

use crate::large::LargeObjects;
pub use crate::request::{Kind, Way};
use crate::sampling::Sampling;
pub use crate::sampling::{Look, Pace};
use hab::atomics::Word;
use std::sync::atomic::{AtomicU64, Ordering};

/// Buckets of an octave.
const PARTS: usize = 4;
/// Buckets of a histogram: up to 2^40 ticks, several minutes. The last one has all that took longer.
pub const BUCKETS: usize = (40 - 1) * PARTS;

/// The bucket of so many ticks.
#[inline(always)]
pub const fn bucket(ticks: u64) -> usize {
    if ticks < PARTS as u64 {
        return ticks as usize;
    }
    let octave = ticks.ilog2() as usize;
    let part = (ticks >> (octave - 2)) as usize % PARTS;
    let bucket = (octave - 1) * PARTS + part;
    if bucket < BUCKETS { bucket } else { BUCKETS - 1 }
}

/// The fewest ticks that belong to a bucket; of the one behind the last, what ends the last.
pub const fn least(bucket: usize) -> u64 {
    match bucket / PARTS {
        0 => bucket as u64,
        octaves => ((PARTS + bucket % PARTS) as u64) << (octaves - 1),
    }
}

/// The times of one kind and way in a domain.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Histogram {
    buckets: [AtomicU64; BUCKETS],
    sum: AtomicU64,
    longest: AtomicU64,
    timed: AtomicU64,
}

impl Histogram {
    /// Counts a request that was timed, and stands for `weight` of them. `alone`: the domain has one CPU, and plain additions do, as
    /// in [`hab::Counters::add_plainly`].
    #[inline(always)]
    fn record(&self, ticks: u64, weight: u64, alone: bool) {
        let amounts = [
            (&self.buckets[bucket(ticks)], weight),
            (&self.sum, ticks.wrapping_mul(weight)),
            (&self.timed, 1),
        ];
        // Relaxed, all of it: statistics publish nothing.
        for (word, amount) in amounts {
            if alone {
                word.add_on_own_cpu(amount);
            } else {
                word.fetch_add(amount, Ordering::Relaxed);
            }
        }
        if ticks > self.longest.load(Ordering::Relaxed) {
            self.longest.fetch_max(ticks, Ordering::Relaxed);
        }
    }

    /// Requests that were timed.
    pub fn timed(&self) -> u64 {
        self.timed.load(Ordering::Relaxed)
    }

    /// Requests in a bucket, with those that others stand for.
    pub fn count(&self, bucket: usize) -> u64 {
        self.buckets.get(bucket).map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// Ticks of all of them.
    pub fn sum(&self) -> u64 {
        self.sum.load(Ordering::Relaxed)
    }

    /// Ticks of the longest that was timed.
    pub fn longest(&self) -> u64 {
        self.longest.load(Ordering::Relaxed)
    }
}

/// The times of one domain. No other domain writes there, except a thread that has just left this one.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Times {
    sampling: Sampling,
    all: [[Histogram; Way::ALL.len()]; Kind::ALL.len()],
    large: LargeObjects,
}

impl Times {
    /// What a request that begins is looked at for.
    #[inline(always)]
    pub fn look(&self, pace: Pace) -> Look {
        self.sampling.look(pace)
    }

    /// One that was to be timed has ended now.
    #[inline(always)]
    pub fn follow(&self, now: u64, pace: Pace) {
        self.sampling.follow(now, pace);
    }

    /// Counts a request that was not timed; `alone` if the domain has one CPU.
    #[inline(always)]
    pub fn pass(&self, kind: Kind, way: Way, alone: bool) {
        self.sampling.pass(kind, way, alone);
    }

    /// Counts a request that was, and that stands for those passed over since the last one.
    #[inline(always)]
    pub fn record(&self, kind: Kind, way: Way, ticks: u64, alone: bool) {
        self.of(kind, way).record(ticks, self.sampling.take(kind, way), alone);
    }

    /// Sizes of large objects.
    #[inline(always)]
    pub fn large(&self) -> &LargeObjects {
        &self.large
    }

    /// One of them.
    #[inline(always)]
    pub fn of(&self, kind: Kind, way: Way) -> &Histogram {
        &self.all[kind as usize][way as usize]
    }

    #[cfg(test)]
    pub(crate) fn sampling(&self) -> &Sampling {
        &self.sampling
    }

    /// Requests that were passed over, and that none stands for yet.
    pub fn passed(&self, kind: Kind, way: Way) -> u64 {
        self.sampling.passed(kind, way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        assert_eq!([0, 1, 4, 5, 7, 8, 9, 10, 1000].map(bucket), [0, 1, 4, 5, 7, 8, 8, 9, 35]);
        for at in 0..BUCKETS {
            assert_eq!(bucket(least(at)), at);
            assert_eq!(bucket(least(at + 1) - 1), at);
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    proptest! {
        #[test]
        fn a_bucket_is_as_narrow_as_promised(ticks in 4_u64..1 << 40) {
            let (from, to) = (least(bucket(ticks)), least(bucket(ticks) + 1));
            prop_assert!(from <= ticks && ticks < to && (to - from) * 4 <= from);
        }
    }
}
