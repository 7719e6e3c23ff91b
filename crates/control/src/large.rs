//! How large the objects are that G1 may have to give regions of their own: a histogram of bytes, by powers of two.
//!
//! An object is humongous where it is larger than half a region, and a region's size is a power of two: a class of sizes is humongous as a whole, or not at all,
//! whatever the size of regions is (`G1CollectedHeap::is_humongous`).
#![allow(clippy::disallowed_types, reason = "the words are shared with another process")]

use hab::atomics::Word;
use std::sync::atomic::{AtomicU64, Ordering};

/// Objects of this size, in bytes, and smaller ones are not counted: half of G1's smallest region (1 MB).
pub const NOT_LARGE: usize = 1 << 19;
/// Classes of sizes: the last one ends at 32 GB, and has all that is larger, too.
pub const CLASSES: usize = 16;

/// The class of an object of so many bytes, more than [`NOT_LARGE`].
const fn class(bytes: usize) -> usize {
    let class = ((bytes - 1) / NOT_LARGE).ilog2() as usize;
    if class < CLASSES { class } else { CLASSES - 1 }
}

/// The most bytes that an object of a class has.
pub const fn most(class: usize) -> u64 {
    (NOT_LARGE as u64) << (class + 1)
}

/// Those of one domain.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct LargeObjects {
    counts: [AtomicU64; CLASSES],
    bytes: [AtomicU64; CLASSES],
}

impl LargeObjects {
    /// Counts an object of more than [`NOT_LARGE`] bytes. `alone`: the domain has one CPU, and plain additions do, as in [`hab::Counters::add_plainly`].
    #[cold]
    #[inline(never)]
    pub fn record(&self, bytes: usize, alone: bool) {
        let class = class(bytes.max(NOT_LARGE + 1));
        // Relaxed, all of it: statistics publish nothing.
        for (word, amount) in [(&self.counts[class], 1), (&self.bytes[class], bytes as u64)] {
            if alone {
                word.add_on_own_cpu(amount);
            } else {
                word.fetch_add(amount, Ordering::Relaxed);
            }
        }
    }

    /// Objects of a class, and their bytes.
    pub fn of(&self, class: usize) -> (u64, u64) {
        let read = |words: &[AtomicU64]| words.get(class).map_or(0, |word| word.load(Ordering::Relaxed));
        (read(&self.counts), read(&self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_class_ends_with_a_power_of_two() {
        let half = NOT_LARGE;
        assert_eq!([half + 1, 2 * half, 2 * half + 1, 4 * half].map(class), [0, 0, 1, 1]);
        assert_eq!((most(0), most(1), most(CLASSES - 1)), (1 << 20, 2 << 20, 32 << 30));
        assert_eq!(class(usize::MAX), CLASSES - 1);
    }

    proptest! {
        /// As HotSpot has it: larger than half a region.
        #[test]
        fn a_class_is_humongous_as_a_whole_or_not_at_all(bytes in NOT_LARGE + 1..32 << 30, region in 20_u32..36) {
            let region = 1_u64 << region;
            prop_assert_eq!(bytes as u64 > region / 2, most(class(bytes)) > region / 2);
        }
    }
}
