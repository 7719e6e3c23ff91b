//! `tlab=auto`: a thread's buffer grows with what the thread allocates.
//!
//! A thread's first TLAB is small; within a collection cycle each further one is twice as large, up to a limit; with each new cycle
//! it is half as large again. So a thread that allocates a few KB costs a few KB, a thread that allocates much comes to HotSpot's
//! slow path seldom, and what a thread leaves unused at a collection is at most about what it has allocated since the last one, or
//! a falling part of what it allocated before. See docs/decisions/growing-tlab.md.

use hab::Shape;
use std::cell::Cell;

/// A thread's first TLAB, in bytes.
pub(crate) const FIRST: usize = 2 << 10;
/// The largest TLAB, in bytes.
pub(crate) const LAST: usize = 256 << 10;

thread_local! {
    /// The cycle and the size of this thread's last TLAB.
    static LAST_TLAB: Cell<(u64, usize)> = const { Cell::new((0, 0)) };
}

/// The size of this thread's next TLAB in the collection cycle `cycle`, at most `limit`, in bytes: whole grains of `shape`.
#[inline(always)]
pub(crate) fn next(cycle: u64, limit: usize, shape: Shape) -> usize {
    LAST_TLAB.with(|last| {
        let bytes = after(last.get(), cycle, limit, shape);
        last.set((cycle, bytes));
        bytes
    })
}

#[inline(always)]
fn after((then, bytes): (u64, usize), cycle: u64, limit: usize, shape: Shape) -> usize {
    let bytes = match cycle.saturating_sub(then) {
        0 => bytes * 2,
        // As many halvings as cycles; beyond 2^30 bytes there is nothing to halve.
        cycles => bytes >> cycles.min(30),
    };
    // A limit is not a power of two: halves of it need not be whole grains, and an extent that is not corrupts the heap.
    shape.floor(bytes.clamp(FIRST, LAST).min(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { grain_shift: 3, min_remainder: 16 };

    #[test]
    fn doubles_within_a_cycle() {
        let sizes: Vec<usize> = (0..9).map(|_| next(7, usize::MAX, SHAPE) >> 10).collect();
        assert_eq!(sizes, [2, 4, 8, 16, 32, 64, 128, 256, 256]);
    }

    #[test]
    fn halves_with_each_cycle() {
        assert_eq!(after((7, 64 << 10), 8, usize::MAX, SHAPE), 32 << 10);
        assert_eq!(after((7, 64 << 10), 10, usize::MAX, SHAPE), 8 << 10);
        assert_eq!(after((7, LAST), 1000, usize::MAX, SHAPE), FIRST);
    }

    #[test]
    fn a_new_thread_starts_small_before_the_first_collection_too() {
        let first = std::thread::spawn(|| next(0, usize::MAX, SHAPE)).join().unwrap();
        assert_eq!(first, FIRST);
    }

    #[test]
    fn a_small_buffer_limits_the_growth() {
        assert_eq!(after((1, 4096), 1, 6000, SHAPE), 6000);
        assert_eq!(after((0, 0), 0, 1024, SHAPE), 1024);
        assert_eq!(after((1, 6000), 2, 1024, SHAPE), 1024);
    }

    #[test]
    fn sizes_are_whole_grains_whatever_the_limit() {
        for grain_shift in [3, 4, 8] {
            let shape = Shape { grain_shift, min_remainder: 16 };
            for limit in (300..70_000).step_by(7) {
                let mut last = (0, 0);
                for cycle in [0, 0, 0, 0, 0, 0, 1, 3, 3, 4] {
                    last = (cycle, after(last, cycle, shape.floor(limit), shape));
                    assert_eq!(last.1 % shape.grain(), 0, "{limit}");
                }
            }
        }
    }
}
