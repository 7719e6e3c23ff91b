//! `tlab=auto`: HotSpot's own strategy decides how large a thread's buffer is, but a thread that it does not know yet starts small.
//!
//! HotSpot sizes a thread's TLAB by what the thread has allocated between two collections. Until the first one it gives every thread
//! the same share of eden, however little the thread is going to allocate: a thread for each task, or a native thread that attaches
//! for a callback, takes megabytes and uses a few KB of them. Here a thread's first TLAB is [`FIRST`], and each other one at most a quarter of all that
//! its thread has allocated in its life (at least [`LEAST`]). So what a thread leaves unused when it ends, or when a collection comes, is little
//! or at most a quarter of what it has used; a thread that goes on allocating has after 25 to 40 TLABs what HotSpot wants it to have, for the rest of its life, and from then on
//! nothing differs from a stock JVM, its limit of waste included. Where HotSpot asks for at most 8 KB, it gets that: the end of each TLAB, about
//! 0.6 KB, holds no objects (`ThreadLocalAllocBuffer::end_reserve`), and many small TLABs would lose more than they save. See
//! docs/decisions/growing-tlab.md.

use hab::Shape;

/// A thread's first TLAB, in bytes: HotSpot's own smallest one (`MinTLABSize`), which a callback fits.
pub(crate) const FIRST: usize = 2 << 10;
/// The least of all others.
const LEAST: usize = 4 << 10;
/// A request of no more is served as it is, whoever asks.
const SMALL: usize = 8 << 10;
/// A TLAB is at most such a part of what its thread has allocated.
const PART: usize = 4;

/// The size of a thread's next TLAB, where HotSpot asks for `requested` and needs `min`: whole grains of `shape`, if the two are. `allocated` tells the
/// bytes that the thread has allocated in its life; it is asked only where that matters.
#[inline(always)]
pub(crate) fn next(min: usize, requested: usize, shape: Shape, allocated: impl FnOnce() -> usize) -> usize {
    if requested <= SMALL {
        return requested;
    }
    let allocated = allocated();
    let least = if allocated == 0 { FIRST } else { LEAST };
    requested.min(shape.floor((allocated / PART).max(least))).max(min)
}

#[cfg(test)]
#[path = "growth_test.rs"]
mod tests;
