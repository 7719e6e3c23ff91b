//! What an arena hands out, from its beginning to its limit: the top that all threads share.

use crate::blocks;
use crate::grain::GRAIN;
use crate::primitive::{AtomicSize, Count64, Ordering};
use crate::segments::Segments;
use hab::{CpuIndex, Extent, Source};

/// Offsets into an arena's segments, and how many of them are handed out.
#[derive(Debug)]
pub(crate) struct Reserve {
    /// Bytes that may be handed out, a whole number of grains.
    limit: usize,
    /// The first offset that is not handed out.
    used: AtomicSize,
    /// Bytes before it that are not handed out either: ends of segments too short for what was asked.
    skipped: Count64,
    segments: Segments,
}

/// A place in a reserve to go back to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    used: usize,
    skipped: u64,
}

impl Position {
    /// The first offset that is not handed out.
    pub(crate) fn offset(self) -> usize {
        self.used
    }
}

impl Reserve {
    /// The first `limit` bytes of the segments.
    pub(crate) fn new(segments: Segments, limit: usize) -> Reserve {
        let limit = limit.min(segments.end()) & !(GRAIN - 1);
        Reserve { limit, used: AtomicSize::new(0), skipped: Count64::new(0), segments }
    }

    /// No address is below.
    pub(crate) fn base(&self) -> usize {
        self.segments.base()
    }

    /// Bytes that may be handed out.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Bytes handed out.
    pub(crate) fn used(&self) -> usize {
        let Position { used, skipped } = self.position();
        used.saturating_sub(skipped as usize)
    }

    /// Where it is now.
    pub(crate) fn position(&self) -> Position {
        // Relaxed: a statistic, or the caller is alone.
        Position { used: self.used.load(Ordering::Relaxed), skipped: self.skipped.load(Ordering::Relaxed) }
    }

    /// The memory.
    pub(crate) fn segments(&self) -> &Segments {
        &self.segments
    }

    /// Hands out `min` to `desired` bytes, rounded up to grains, of one segment, at a multiple of `align` (a power of two); what an alignment
    /// skips is lost.
    #[inline(always)]
    fn take(&self, min: usize, desired: usize, align: usize) -> Option<Extent> {
        // Relaxed: the exchange checks the value.
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            let (extent, end, skipped) =
                match self.of_segment(self.segments.of(used), used, min, desired, align) {
                    Some((extent, end)) => (extent, end, 0),
                    None => self.of_a_later_one(used, min, desired, align)?,
                };
            // Acquire: with the Release of `take_back`; who had the bytes before is done with them.
            match self.used.compare_exchange_weak(used, end, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => {
                    if skipped > 0 {
                        self.skipped.fetch_add(skipped as u64, Ordering::Relaxed);
                    }
                    // With what its alignment has skipped, which is nobody's.
                    let gap = end - extent.bytes - (used + skipped);
                    let whole = Extent { start: extent.start - gap, bytes: extent.bytes + gap };
                    blocks::taken(&self.segments, whole, end);
                    return Some(extent);
                }
                Err(now) => used = now,
            }
        }
    }

    /// Of a segment, from an offset in it on; with the offset behind it.
    #[inline(always)]
    fn of_segment(
        &self,
        segment: usize,
        from: usize,
        min: usize,
        desired: usize,
        align: usize,
    ) -> Option<(Extent, usize)> {
        let first = self.segments.start(segment);
        let room = self.segments.start(segment + 1).min(self.limit).checked_sub(from)?;
        if room < min || room == 0 {
            return None;
        }
        let address = self.segments.address(segment)?;
        let at = address + (from - first);
        let start = at.checked_next_multiple_of(align)?;
        let room = room.checked_sub(start - at)? & !(GRAIN - 1);
        let bytes = desired.min(room);
        if bytes < min || bytes == 0 {
            return None;
        }
        let bytes = bytes.next_multiple_of(GRAIN);
        Some((Extent { start, bytes }, first + (start - address) + bytes))
    }

    /// Of the next segment that is large enough, with what is skipped for it.
    #[cold]
    #[inline(never)]
    fn of_a_later_one(
        &self,
        used: usize,
        min: usize,
        desired: usize,
        align: usize,
    ) -> Option<(Extent, usize, usize)> {
        let room = min.checked_add(align.saturating_sub(pages::small_page_bytes()))?;
        let later = self.segments.holding(room, self.segments.of(used) + 1)?;
        let from = self.segments.start(later);
        let (extent, end) = self.of_segment(later, from, min, desired, align)?;
        Some((extent, end, from - used))
    }

    /// Hands out exactly `bytes` at an address that is a multiple of `align` (a power of two); what is skipped is lost.
    pub(crate) fn aligned(&self, bytes: usize, align: usize) -> Option<usize> {
        let bytes = bytes.checked_next_multiple_of(GRAIN)?;
        self.take(bytes, bytes, align).map(|extent| extent.start)
    }

    /// Takes back the last bytes that were handed out, if they are these: whether they were.
    pub(crate) fn take_back(&self, extent: Extent) -> bool {
        if extent.bytes == 0 {
            return true;
        }
        let used = self.used.load(Ordering::Relaxed);
        let Some(before) = used.checked_sub(extent.bytes) else { return false };
        let segment = self.segments.of(before);
        let Some(address) = self.segments.address(segment) else { return false };
        // A block at the very end of a segment stays: the offset behind it is the next segment's.
        extent.start == address + (before - self.segments.start(segment))
            && self.segments.of(used) == segment
            // Release: see `take`.
            && self.used.compare_exchange_weak(used, before, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Takes everything beyond a position back. The caller is alone.
    pub(crate) fn reset_to(&self, to: Position) {
        // What was handed out before it may have been taken back since.
        if self.position().used < to.used {
            return;
        }
        blocks::taken_back(&self.segments, to.used, self.position().used);
        // Relaxed: nobody else looks; whoever does later is ordered by what handed the arena over.
        self.used.store(to.used, Ordering::Relaxed);
        self.skipped.store(to.skipped, Ordering::Relaxed);
    }
}

impl Source for Reserve {
    fn acquire(&self, _cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        self.take(min, desired, 1)
    }

    fn available(&self, _cpu: CpuIndex) -> usize {
        self.limit.saturating_sub(self.position().used)
    }

    /// Nothing needs to stand in a tail: nobody walks an arena.
    fn retire(&self, _tail: Extent) {}
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::piece::{FIRST, Piece};
    use crate::segments::MOST;
    use pages::{Mapping, Policy};

    const CPU: CpuIndex = CpuIndex(0);

    fn reserve(base: usize, limit: usize) -> Reserve {
        Reserve::new(Segments::foreign(base, limit), limit)
    }

    fn growing() -> Reserve {
        let first = Piece { mapping: Mapping::new(FIRST, Policy::Small).unwrap(), used: false };
        Reserve::new(Segments::new(first, MOST, 8 << 40), usize::MAX)
    }

    #[test]
    fn hands_out_to_the_limit_and_no_further() {
        let reserve = reserve(0x1000, 104);
        assert_eq!(reserve.acquire(CPU, 8, 64), Some(Extent { start: 0x1000, bytes: 64 }));
        assert_eq!(reserve.acquire(CPU, 48, 64), None, "fewer than min are left");
        assert_eq!(reserve.acquire(CPU, 8, 64), Some(Extent { start: 0x1040, bytes: 40 }));
        assert_eq!((reserve.acquire(CPU, 8, 8), reserve.available(CPU)), (None, 0));
        reserve.reset_to(Position { used: 64, skipped: 0 });
        assert_eq!(reserve.available(CPU), 40);
    }

    #[test]
    fn segments_grow_and_what_they_skip_is_not_counted() {
        let reserve = growing();
        assert_eq!(reserve.limit(), (128 << 30) - FIRST);
        assert_eq!(reserve.acquire(CPU, 8, 4 << 20).unwrap().bytes, FIRST, "all of the first segment");
        assert_eq!(reserve.acquire(CPU, 8, 8).unwrap().bytes, 8, "the second");
        let large = reserve.acquire(CPU, 1 << 20, 1 << 20).unwrap();
        assert_eq!(reserve.used(), FIRST + 8 + (1 << 20));
        assert_eq!(
            reserve.segments().mapped_bytes(),
            (FIRST + 2 * FIRST + (1 << 20), 0),
            "none between them"
        );
        // SAFETY: handed out just now.
        unsafe { std::ptr::with_exposed_provenance_mut::<u8>(large.start).write_bytes(1, large.bytes) };
        let before = reserve.position();
        assert_eq!(reserve.acquire(CPU, 65 << 30, 65 << 30), None);
        assert_eq!(reserve.position(), before, "what cannot be had skips nothing");
        assert_eq!(reserve.aligned(8, 1 << 20).unwrap() % (1 << 20), 0);
    }

    #[test]
    fn the_last_bytes_can_be_taken_back_and_no_others() {
        let reserve = growing();
        let (first, second) = (reserve.acquire(CPU, 64, 64).unwrap(), reserve.acquire(CPU, 64, 64).unwrap());
        assert!(!reserve.take_back(first) && reserve.take_back(second) && reserve.take_back(first));
        assert_eq!((reserve.used(), reserve.acquire(CPU, 64, 64)), (0, Some(first)));
        assert!(reserve.acquire(CPU, 8, FIRST).is_some());
        let end = Extent { start: first.start + FIRST - 64, bytes: 64 };
        assert!(!reserve.take_back(end), "of a segment that is full");
    }

    #[test]
    fn alignment_is_kept_and_overflow_is_none() {
        let reserve = reserve(0x1008, 1 << 20);
        assert_eq!(reserve.aligned(1, 64), Some(0x1040));
        assert_eq!(reserve.aligned(8, 8), Some(0x1048), "ends are whole grains");
        assert_eq!(reserve.aligned(usize::MAX - 8, 8), None);
        assert_eq!(reserve.aligned(8, 1 << 63), None);
    }
}
