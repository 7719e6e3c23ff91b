//! What tools that watch every access are told of the arena's memory: AddressSanitizer (feature `asan`) and Valgrind's memcheck (feature
//! `memcheck`). Without these features every function here is empty, and so is what it would look at.
//!
//! What is handed out may be used. Everything else that the reserve has given up is nobody's: what buffers hold, what was taken back, the
//! gaps of alignments, and [`GAP`] bytes behind each block. Whoever owns memory tells of it: of a block its owner, after it was handed out and
//! before it is given back; of a range whoever has just taken it from the reserve, before anybody else can be given some of it. So a thread
//! that is interrupted between a sequence and what it tells has a block that may not be used yet, and never tells of another thread's.

pub(crate) mod asan;
pub(crate) mod memcheck;

use crate::grain::GRAIN;
use crate::primitive::{Ordering, Place};
use hab::Extent;

pub(crate) const IS_ON: bool = cfg!(any(feature = "asan", feature = "memcheck"));

/// Bytes behind each block that are nobody's: an access past a block's end is seen although the next block is in use. C's blocks are multiples
/// of 16 bytes apart.
const GAP: usize = if IS_ON { 16 } else { 0 };

/// Whole grains and the gap behind them; no gap behind none.
#[inline(always)]
pub(crate) fn with_gap(bytes: usize) -> usize {
    match bytes {
        _ if !IS_ON => bytes,
        0 => 0,
        // What is larger is refused as well.
        _ => (bytes + GAP).min((isize::MAX as usize) & !(GRAIN - 1)),
    }
}

/// What a block of so many bytes takes, in whole grains.
#[inline(always)]
pub(crate) fn room(size: usize) -> usize {
    with_gap(size.next_multiple_of(GRAIN))
}

/// The first offset of an arena's memory that no tool was told of.
#[derive(Debug)]
pub(crate) struct Reached([Place; IS_ON as usize]);

impl Reached {
    pub(crate) fn new() -> Reached {
        Reached(std::array::from_fn(|_| Place::new(0)))
    }

    pub(crate) fn advance(&self, to: usize) {
        for place in &self.0 {
            // Relaxed: who looks at it is alone.
            place.fetch_max(to, Ordering::Relaxed);
        }
    }

    fn get(&self) -> usize {
        self.0.first().map_or(0, |place| place.load(Ordering::Relaxed))
    }
}

/// Nobody may use a range.
#[inline(always)]
pub(crate) fn held(extent: Extent) {
    if cfg!(feature = "asan") {
        asan::poison(extent);
    }
    if cfg!(feature = "memcheck") {
        memcheck::nobodys(extent);
    }
}

/// Whoever has a range may use it: the arena, which writes to it, or the kernel's next owner.
#[inline(always)]
pub(crate) fn free_to_use(extent: Extent) {
    if cfg!(feature = "asan") {
        asan::unpoison(extent);
    }
    if cfg!(feature = "memcheck") {
        memcheck::undefined(extent);
    }
}

/// A segment is an arena's.
#[inline(always)]
pub(crate) fn begins(segment: usize) {
    if cfg!(feature = "memcheck") {
        memcheck::created(segment);
    }
}

/// It is no more.
#[inline(always)]
pub(crate) fn ends(segment: usize) {
    if cfg!(feature = "memcheck") {
        memcheck::destroyed(segment);
    }
}

/// All segments of an arena, each with its first offset, are no more. The caller is alone.
#[inline(always)]
pub(crate) fn all_end(segments: impl Iterator<Item = (usize, Extent)>, reached: &Reached) {
    if !IS_ON {
        return;
    }
    for (first, segment) in segments {
        ends(segment.start);
        let used = reached.get().saturating_sub(first).min(segment.bytes);
        // Whatever the kernel puts there later is not the arena's.
        free_to_use(Extent { start: segment.start, bytes: used });
    }
}
