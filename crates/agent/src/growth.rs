//! `tlab=auto`: a thread's buffer grows with what the thread allocates.
//!
//! A thread's first TLAB is small; within a collection cycle each further one is twice as large, up to a limit; with each new cycle
//! it is half as large again. So a thread that allocates a few KB costs a few KB, a thread that allocates much comes to HotSpot's
//! slow path seldom, and what a thread leaves unused at a collection is at most about what it has allocated since the last one, or
//! a falling part of what it allocated before. See docs/decisions/growing-tlab.md.

use std::cell::Cell;

/// A thread's first TLAB, in bytes.
pub(crate) const FIRST: usize = 2 << 10;
/// The largest TLAB, in bytes.
pub(crate) const LAST: usize = 256 << 10;

thread_local! {
    /// The cycle and the size of this thread's last TLAB.
    static LAST_TLAB: Cell<(u64, usize)> = const { Cell::new((0, 0)) };
}

/// The size of this thread's next TLAB in the collection cycle `cycle`, at most `limit`, in bytes.
#[inline(always)]
pub(crate) fn next(cycle: u64, limit: usize) -> usize {
    LAST_TLAB.with(|last| {
        let bytes = after(last.get(), cycle, limit);
        last.set((cycle, bytes));
        bytes
    })
}

#[inline(always)]
fn after((then, bytes): (u64, usize), cycle: u64, limit: usize) -> usize {
    let bytes = match cycle.saturating_sub(then) {
        0 => bytes * 2,
        // As many halvings as cycles; beyond 2^30 bytes there is nothing to halve.
        cycles => bytes >> cycles.min(30),
    };
    bytes.clamp(FIRST, LAST).min(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_within_a_cycle() {
        let sizes: Vec<usize> = (0..9).map(|_| next(7, usize::MAX) >> 10).collect();
        assert_eq!(sizes, [2, 4, 8, 16, 32, 64, 128, 256, 256]);
    }

    #[test]
    fn halves_with_each_cycle() {
        assert_eq!(after((7, 64 << 10), 8, usize::MAX), 32 << 10);
        assert_eq!(after((7, 64 << 10), 10, usize::MAX), 8 << 10);
        assert_eq!(after((7, LAST), 1000, usize::MAX), FIRST);
    }

    #[test]
    fn a_new_thread_starts_small_before_the_first_collection_too() {
        let first = std::thread::spawn(|| next(0, usize::MAX)).join().unwrap();
        assert_eq!(first, FIRST);
    }

    #[test]
    fn a_small_buffer_limits_the_growth() {
        assert_eq!(after((1, 4096), 1, 6000), 6000);
        assert_eq!(after((0, 0), 0, 1024), 1024);
        assert_eq!(after((1, 6000), 2, 1024), 1024);
    }
}
