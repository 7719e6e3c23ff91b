//! `tlab=auto`: HotSpot's own strategy decides how large a thread's buffer is, but a thread that it does not know yet starts small.
//!
//! HotSpot sizes a thread's TLAB by what the thread has allocated between two collections. Until the first one it gives every thread
//! the same share of eden, however little the thread is going to allocate: a thread for each task, or a native thread that attaches
//! for a callback, takes megabytes and uses a few KB of them. Here a TLAB is at most a quarter of all that its thread has allocated in its life (at
//! least [`FIRST`]). So what a thread leaves unused when it ends, or when a collection comes, is at most a quarter of what it has used; a thread
//! that goes on allocating has after two or three dozen TLABs what HotSpot wants it to have, for the rest of its life, and from then on
//! nothing differs from a stock JVM, its limit of waste included. Where HotSpot asks for little, it gets that: the end of a TLAB, half a KB that the
//! processor may fetch ahead, is lost for each, and many small ones lose more of it than beginning small could save. See
//! docs/decisions/growing-tlab.md.

use hab::Shape;

/// A thread's first TLAB, in bytes: what nearly every short thread fits.
pub(crate) const FIRST: usize = 4 << 10;
/// A request of no more is served as it is, whoever asks.
pub(crate) const SMALL: usize = 2 * FIRST;
/// A TLAB is at most such a part of what its thread has allocated.
const PART: usize = 4;

/// The size of the next TLAB of a thread that has allocated `allocated` bytes in its life, where HotSpot asks for `requested`, more than
/// [`SMALL`], and needs `min`: whole grains of `shape`, if the three are.
#[inline(always)]
pub(crate) fn next(allocated: usize, min: usize, requested: usize, shape: Shape) -> usize {
    requested.min(shape.floor((allocated / PART).max(FIRST))).max(min)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { grain_shift: 3, min_remainder: 16 };

    #[test]
    fn grows_with_what_was_allocated_until_it_is_what_hotspot_wants() {
        let mut allocated = 0;
        let sizes: Vec<usize> = (0..26)
            .map(|_| {
                let bytes = next(allocated, 64, 300 << 10, SHAPE);
                allocated += bytes;
                bytes >> 10
            })
            .collect();
        assert_eq!(sizes[..8], [4, 4, 4, 4, 4, 5, 6, 7]);
        assert_eq!(sizes[22..], [221, 277, 300, 300]);
    }

    #[test]
    fn a_thread_that_hotspot_knows_gets_what_it_wants() {
        assert_eq!(next(100 << 20, 64, 9_000_000, SHAPE), 9_000_000);
        assert_eq!(next(100 << 20, 64, 1024, SHAPE), 1024);
    }

    #[test]
    fn never_less_than_the_object_needs() {
        assert_eq!(next(0, 100_000, 9_000_000, SHAPE), 100_000);
    }

    #[test]
    fn whole_grains_whatever_was_allocated() {
        for grain_shift in [3, 4, 8] {
            let shape = Shape { grain_shift, min_remainder: 16 };
            for allocated in (0..70_000).step_by(7) {
                let bytes = next(allocated, shape.grain(), 64 << 10, shape);
                assert!(bytes.is_multiple_of(shape.grain()) && bytes >= FIRST, "{allocated}: {bytes}");
            }
        }
    }
}
