//! What [`crate::watched`] is told of an arena's blocks, and of what its reserve gives up and takes back.

use crate::grain::GRAIN;
use crate::segments::Segments;
use crate::watched::{IS_ON, asan, held, memcheck};
use hab::Extent;

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
