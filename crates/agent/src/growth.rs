//! `tlab=auto`: HotSpot's own strategy decides how large a thread's buffer is, but a thread that it does not know yet starts small.
//!
//! HotSpot sizes a thread's TLAB by what the thread has allocated between two collections. Until the first one it gives every thread
//! the same share of eden, however little the thread is going to allocate: a thread for each task, or a native thread that attaches
//! for a callback, takes megabytes and uses a few KB of them. Here a thread's first TLAB is [`FIRST`], and each other one at most a quarter of all that
//! its thread has allocated in its life (at least [`LEAST`]). So what a thread leaves unused when it ends, or when a collection comes, is little
//! or at most a quarter of what it has used; a thread that goes on allocating has after two or three dozen TLABs what HotSpot wants it to have, for the rest of its life, and from then on
//! nothing differs from a stock JVM, its limit of waste included. Where HotSpot asks for little, it gets that: the end of a TLAB, half a KB that the
//! processor may fetch ahead, is lost for each, and many small ones lose more of it than beginning small could save. See
//! docs/decisions/growing-tlab.md.

use hab::Shape;

/// A thread's first TLAB, in bytes: HotSpot's own smallest one (`MinTLABSize`), which a callback fits.
pub(crate) const FIRST: usize = 2 << 10;
/// The least of all others.
const LEAST: usize = 4 << 10;
/// A request of no more is served as it is, whoever asks.
pub(crate) const SMALL: usize = 8 << 10;
/// A TLAB is at most such a part of what its thread has allocated.
const PART: usize = 4;

/// The size of the next TLAB of a thread that has allocated `allocated` bytes in its life, where HotSpot asks for `requested`, more than
/// [`SMALL`], and needs `min`: whole grains of `shape`, if the three are.
#[inline(always)]
pub(crate) fn next(allocated: usize, min: usize, requested: usize, shape: Shape) -> usize {
    let least = if allocated == 0 { FIRST } else { LEAST };
    requested.min(shape.floor((allocated / PART).max(least))).max(min)
}

#[cfg(test)]
#[path = "growth_test.rs"]
mod tests;
