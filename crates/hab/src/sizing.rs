//! How large a buffer should be.

use crate::Shape;

/// All buffers of a level together get at most this fraction of eden: what they hold when a collection comes is lost to it.
pub const EDEN_FRACTION: usize = 32;
/// Larger brings nothing: at 512 KB a 4 KB thread buffer reaches the shared heap once in 128 refills.
pub const LARGEST: usize = 512 << 10;
/// Smaller than this a buffer is refilled too often to be worth its place.
pub const SMALLEST: usize = 16 << 10;

/// The size of a buffer where none was asked for, in bytes: an equal share of a thirty-second of eden for each domain, between
/// [`SMALLEST`] and [`LARGEST`], never above `largest_extent` (HotSpot's `max_tlab_size`), nor all together above an eighth of eden,
/// in whole grains. A buffer that comes out smaller than a few requests passes them on.
pub fn automatic(eden: usize, domains: usize, largest_extent: usize, shape: Shape) -> usize {
    let share = eden / EDEN_FRACTION / domains.max(1);
    shape.floor(share.clamp(SMALLEST, LARGEST).min(bearable(eden, domains)).min(largest_extent))
}

/// The size in force when `asked` bytes were asked for: not more than `largest_extent`, and all domains together not more than
/// an eighth of eden, in whole grains. Smaller than asked means: the heap is too small for the wish, and that has to be said.
pub fn limited(asked: usize, eden: usize, domains: usize, largest_extent: usize, shape: Shape) -> usize {
    shape.floor(asked.min(bearable(eden, domains)).min(largest_extent))
}

/// An equal share of an eighth of eden for each domain: with more in buffers, collections would come noticeably earlier.
fn bearable(eden: usize, domains: usize) -> usize {
    eden / 8 / domains.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { grain_shift: 3, min_remainder: 16 };

    #[test]
    fn a_few_percent_of_eden_for_all_domains_together() {
        let eden = 80 << 20;
        let size = automatic(eden, 8, 1 << 30, SHAPE);
        assert_eq!(size, 320 << 10);
        assert!(size * 8 * EDEN_FRACTION <= eden);
    }

    #[test]
    fn bounds() {
        assert_eq!(automatic(64 << 30, 2, 1 << 30, SHAPE), LARGEST);
        assert_eq!(automatic(4 << 20, 16, 1 << 30, SHAPE), SMALLEST);
        assert_eq!(automatic(1 << 20, 64, 1 << 30, SHAPE), 2048);
        assert_eq!(automatic(64 << 30, 2, 100_001, SHAPE), 100_000);
    }

    #[test]
    fn a_wish_is_cut_to_what_the_heap_bears() {
        assert_eq!(limited(8 << 20, 32 << 20, 2, 1 << 30, SHAPE), 2 << 20);
        assert_eq!(limited(1 << 20, 32 << 20, 2, 512 << 10, SHAPE), 512 << 10);
        assert_eq!(limited(100_001, 32 << 20, 2, 1 << 30, SHAPE), 100_000);
    }
}
