//! What tools that watch every access are told of the arena's memory: AddressSanitizer (feature `asan`) and Valgrind's memcheck (feature
//! `memcheck`). Without these features every function here is empty, and so is what it would look at.
//!
//! What is handed out may be used. Everything else that the reserve has given up is nobody's: what buffers hold, what was taken back, the
//! gaps of alignments, and [`GAP`] bytes behind each block. Whoever owns memory tells of it: of a block its owner, after it was handed out and
//! before it is given back; of a range whoever has just taken it from the reserve, before anybody else can be given some of it. So a thread
//! that is interrupted between a sequence and what it tells has a block that may not be used yet, and never tells of another thread's.

mod asan;
mod memcheck;

use crate::grain::GRAIN;
use crate::primitive::{Ordering, Place};
use crate::segments::Segments;
use hab::Extent;

const IS_ON: bool = cfg!(any(feature = "asan", feature = "memcheck"));

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

    fn advance(&self, to: usize) {
        for place in &self.0 {
            // Relaxed: who looks at it is alone.
            place.fetch_max(to, Ordering::Relaxed);
        }
    }

    fn get(&self) -> usize {
        self.0.first().map_or(0, |place| place.load(Ordering::Relaxed))
    }
}

/// A block is its owner's from now on.
#[inline(always)]
pub(crate) fn handed_out(segments: &Segments, start: usize, size: usize, is_zero: bool) {
    if cfg!(feature = "asan") {
        asan::unpoison(Extent { start, bytes: size });
    }
    if cfg!(feature = "memcheck")
        && let Some(segment) = segments.around(start)
    {
        memcheck::allocated(segment.start, Extent { start, bytes: size });
        if is_zero {
            memcheck::defined(Extent { start, bytes: size });
        }
    }
}

/// A block is about to have fewer bytes (0: it is given back), if these are fewer.
#[inline(always)]
pub(crate) fn shrinks(segments: &Segments, start: usize, old: usize, new: usize) {
    if !IS_ON || new >= old {
        return;
    }
    if cfg!(feature = "asan") {
        // To the next grain: the tool keeps one number for a grain, which is the block's alone.
        asan::poison(Extent { start: start + new, bytes: old.next_multiple_of(GRAIN) - new });
    }
    if cfg!(feature = "memcheck")
        && let Some(segment) = segments.around(start)
    {
        match new {
            0 => memcheck::freed(segment.start, start),
            _ => memcheck::resized(segment.start, Extent { start, bytes: new }),
        }
        memcheck::nobodys(Extent { start: start + new, bytes: old - new });
    }
}

/// A block has more bytes now, if these are more.
#[inline(always)]
pub(crate) fn grew(segments: &Segments, start: usize, old: usize, new: usize, is_zero: bool) {
    if !IS_ON || new <= old {
        return;
    }
    let more = Extent { start: start + old, bytes: new - old };
    if cfg!(feature = "asan") {
        asan::unpoison(Extent { start, bytes: new });
    }
    if cfg!(feature = "memcheck")
        && let Some(segment) = segments.around(start)
    {
        memcheck::resized(segment.start, Extent { start, bytes: new });
        if is_zero { memcheck::defined(more) } else { memcheck::undefined(more) }
    }
}

/// A range was taken from the reserve, which goes on at offset `end`.
#[inline(always)]
pub(crate) fn taken(segments: &Segments, extent: Extent, end: usize) {
    if IS_ON && !segments.is_foreign() {
        segments.reached().advance(end);
        held(extent);
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

/// Everything from offset `from` to `until` is taken back. The caller is alone.
#[inline(always)]
pub(crate) fn taken_back(segments: &Segments, from: usize, until: usize) {
    if !IS_ON || segments.is_foreign() {
        return;
    }
    for (first, segment) in segments.extents() {
        let kept = from.saturating_sub(first).min(segment.bytes);
        let used = until.saturating_sub(first).min(segment.bytes);
        if kept < used {
            held(Extent { start: segment.start + kept, bytes: used - kept });
            if cfg!(feature = "memcheck") {
                memcheck::only(segment.start, Extent { start: segment.start, bytes: kept });
            }
        }
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

/// All segments of an arena are no more. The caller is alone.
#[inline(always)]
pub(crate) fn all_end(segments: &Segments) {
    if !IS_ON {
        return;
    }
    for (first, segment) in segments.extents() {
        ends(segment.start);
        let used = segments.reached().get().saturating_sub(first).min(segment.bytes);
        // Whatever the kernel puts there later is not the arena's.
        free_to_use(Extent { start: segment.start, bytes: used });
    }
}
