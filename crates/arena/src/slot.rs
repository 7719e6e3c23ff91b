//! The words of a CPU: what a buffer is packed into.

use crate::grain::GRAIN_SHIFT;
use crate::primitive::{Atomic64, Count64};
use hab::Extent;

/// Slots lie so far apart, in bytes: pairs of lines, which prefetchers fetch together.
#[cfg_attr(loom, allow(dead_code, reason = "loom's words have another size"))]
pub(crate) const STRIDE: usize = 128;
/// Bits of a word's lower field, the rest in grains. The upper one is the top, in grains from the base.
pub(crate) const REST_BITS: u32 = 24;
/// The lower field.
pub(crate) const REST_MASK: u64 = (1 << REST_BITS) - 1;

/// A buffer that holds nothing; so does every other word without a rest but [`REFILLING`].
pub(crate) const EMPTY: u64 = 0;
/// No top of a range of 8 TB less two grains, not even behind its last grain; no rest.
pub(crate) const REFILLING: u64 = !REST_MASK;
/// Words of a CPU.
pub(crate) const WORDS: usize = if cfg!(loom) { 2 } else { 4 };

/// The words of a CPU, and what happened there.
#[repr(C, align(128))]
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) words: [Atomic64; WORDS],
    pub(crate) refills: Count64,
    pub(crate) reserved: Count64,
    pub(crate) wasted: Count64,
}

impl Slot {
    pub(crate) fn new() -> Slot {
        let zero = || Count64::new(0);
        Slot {
            words: std::array::from_fn(|_| Atomic64::new(EMPTY)),
            refills: zero(),
            reserved: zero(),
            wasted: zero(),
        }
    }
}

/// What became of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Taken; the word as it was.
    Done(u64),
    /// The word of this CPU has too little, or the CPU has none.
    Short,
}

/// The word of a buffer that holds `extent`.
pub(crate) fn pack(base: usize, extent: Extent) -> u64 {
    if extent.bytes == 0 {
        return EMPTY;
    }
    (((extent.start - base) >> GRAIN_SHIFT) as u64) << REST_BITS | (extent.bytes >> GRAIN_SHIFT) as u64
}

/// How many grains lie between a word's top and a multiple of `gap + 1`.
pub(crate) fn skipped(word: u64, gap: u64) -> u64 {
    (word >> REST_BITS).wrapping_neg() & gap
}

/// The word after `grains` were taken from it, behind as many as lie between its top and a multiple of `gap + 1` (one of the powers of two);
/// `None` if it has not so many.
pub(crate) fn cut(word: u64, grains: u64, gap: u64) -> Option<u64> {
    let taken = grains + skipped(word, gap);
    (word & REST_MASK >= taken).then(|| word.wrapping_add((taken << REST_BITS).wrapping_sub(taken)))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const BASE: usize = 1 << 40;

    fn grains(start: usize, count: usize) -> u64 {
        pack(BASE, Extent { start: BASE + (start << GRAIN_SHIFT), bytes: count << GRAIN_SHIFT })
    }

    #[test]
    fn an_extent_at_the_base_is_not_empty() {
        assert_eq!((grains(0, 1), grains(0, 0), grains(7, 0)), (1, EMPTY, EMPTY));
    }

    #[test]
    fn a_cut_begins_at_a_multiple_and_takes_the_gap() {
        let word = grains(5, 10);
        assert_eq!(
            [0, 1, 3, 7].map(|gap| cut(word, 3, gap)),
            [Some(grains(8, 7)), Some(grains(9, 6)), Some(grains(11, 4)), Some(grains(11, 4)),]
        );
        assert_eq!(cut(word, 7, 7).map(|word| word & REST_MASK), Some(0));
        assert_eq!([cut(word, 8, 7), cut(EMPTY, 1, 1), cut(REFILLING, 1, 1)], [None; 3]);
        assert_eq!(cut(grains(8, 10), 10, 7), cut(grains(8, 10), 10, 0), "no gap");
    }

    #[test]
    fn the_last_grain_used_up_is_not_being_refilled() {
        let last = (1 << (64 - REST_BITS)) - 3;
        let shape = hab::Shape { grain_shift: GRAIN_SHIFT, min_remainder: 0 };
        let span = shape.max_span();
        assert_eq!((last + 1) << GRAIN_SHIFT, span);
        let used_up = grains(last, 1) + (1 << REST_BITS) - 1;
        assert!(used_up & REST_MASK == 0 && used_up != REFILLING);
    }
}
