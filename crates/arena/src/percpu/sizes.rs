//! How large the buffer of each CPU, or of each concurrency id, is.
//!
//! A process that may use two CPUs' worth of time on a machine of 192 runs its threads on all of them, two for long: full buffers for all would
//! be a hundred times the memory that it can use, and none would send those threads to the reserve for each object.

use crate::grain::GRAIN;

/// How large the buffers are, in bytes: those of the first CPUs (or ids), and those of all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(super) first: usize,
    pub(super) most: usize,
    pub(super) others: usize,
    pub(super) count: usize,
}

/// The smallest buffer that is worth a refill.
const LEAST: usize = 4 << 10;

impl Sizes {
    /// All the same.
    pub(crate) fn equal(size: usize, count: usize) -> Sizes {
        Sizes { first: size, most: count, others: size, count }
    }

    /// For `most` threads that can run for long, on whichever of `count` CPUs: all buffers together are as large as `most` full ones, or 4 KB each.
    pub(crate) fn folded(size: usize, most: usize, count: usize) -> Sizes {
        Sizes { first: size, most: 0, others: share(size, most, count), count }
    }

    /// The same for concurrency ids, of which the first `most` are the busy ones: these have full buffers, and all others together as much
    /// again, or 4 KB each.
    pub(crate) fn by_ids(size: usize, most: usize, count: usize) -> Sizes {
        Sizes { first: size, most, others: share(size, most, count.saturating_sub(most)), count }
    }

    /// The same for sparse numbers of CPUs.
    pub(crate) fn with_numbers(self, count: usize) -> Sizes {
        Sizes { count, ..self }
    }

    pub(super) fn of(&self, cpu: u32) -> usize {
        if (cpu as usize) < self.most { self.first } else { self.others }
    }
}

fn share(size: usize, most: usize, among: usize) -> usize {
    (size.saturating_mul(most) / among.max(1)).clamp(LEAST.min(size), size) & !(GRAIN - 1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SIZE: usize = 256 << 10;

    fn all(sizes: Sizes) -> usize {
        (0..sizes.count as u32).map(|cpu| sizes.of(cpu)).sum()
    }

    #[test]
    fn two_cpus_of_192_have_two_full_buffers_and_as_much_again_or_4_kb_each() {
        let by_ids = Sizes::by_ids(SIZE, 2, 192);
        assert_eq!((by_ids.of(0), by_ids.of(1), by_ids.of(2), by_ids.of(191)), (SIZE, SIZE, LEAST, LEAST));
        assert_eq!(all(by_ids), 2 * SIZE + 190 * LEAST);
        assert!(all(Sizes::by_ids(SIZE, 96, 192)) <= 2 * 96 * SIZE);
        let folded = Sizes::folded(SIZE, 2, 192).with_numbers(256);
        assert_eq!((folded.of(0), folded.of(191), folded.count), (LEAST, LEAST, 256));
        assert!(all(Sizes::folded(SIZE, 96, 192)) <= 96 * SIZE);
        assert_eq!(all(Sizes::equal(SIZE, 192)), 192 * SIZE);
    }

    #[test]
    fn ids_that_are_all_busy_are_all_full_and_small_sizes_stay() {
        assert_eq!(all(Sizes::by_ids(SIZE, 2, 2)), 2 * SIZE);
        assert_eq!(all(Sizes::by_ids(1024, 2, 192)), 192 * 1024, "4 KB is more than was asked for");
        assert_eq!(Sizes::by_ids(0, 1, 64).of(63), 0);
    }
}
