//! The memory of an arena: one range, or segments of which each has twice the bytes of the one before and is mapped when it is wanted.
//!
//! An arena counts in offsets: segment `k` has those from `first * (2^k - 1)` on. Whoever needs a segment maps it and publishes its address; who
//! comes second gives his own back. No lock: a thread may be stopped, interrupted by a signal or missing in a forked child here.

use crate::grain::MOST_ALIGNED;
use crate::kept;
use crate::nearby;
use crate::piece::{FLAGS, POLICY, Piece, USED};
use crate::primitive::{Ordering, Place};
use crate::watched::{self, Reached};
use hab::Extent;
use pages::{Mapping, Policy};

/// Segments of an arena, at most: from 64 KB to 64 GB.
pub(crate) const MOST: usize = 21;

/// What an arena's offsets stand for.
#[derive(Debug)]
pub(crate) struct Segments {
    /// Bytes of the first one; a power of two where there are several.
    first: usize,
    count: usize,
    /// Addresses that buffers can tell: so many bytes from the base on.
    base: usize,
    span: usize,
    policy: Policy,
    /// Addresses with flags; 0: not mapped yet.
    at: [Place; MOST],
    /// The memory is somebody else's (that of tests).
    is_foreign: bool,
    reached: Reached,
}

impl Segments {
    /// The first segment is there; `count` in all. Buffers can tell `span` bytes from the base on.
    pub(crate) fn new(first: Piece, count: usize, span: usize) -> Segments {
        let (len, address, policy) =
            (first.mapping.len(), first.mapping.as_ptr().addr(), first.mapping.policy());
        // The kernel maps near to what is mapped already, mostly below; under AddressSanitizer, 4 TB below.
        let base = if count == 1 {
            address
        } else {
            address.saturating_sub(span / 4 * 3).next_multiple_of(MOST_ALIGNED)
        };
        let at = std::array::from_fn(|_| Place::new(0));
        at[0].store(first.pack(), Ordering::Relaxed);
        watched::begins(address);
        let reached = Reached::new();
        Segments { first: len, count, base, span, policy, at, is_foreign: false, reached }
    }

    /// One range that somebody else sees to.
    #[cfg(test)]
    pub(crate) fn foreign(base: usize, len: usize) -> Segments {
        let at = std::array::from_fn(|index| Place::new(if index == 0 { base } else { 0 }));
        let (policy, reached) = (Policy::Small, Reached::new());
        Segments { first: len, count: 1, base, span: len, policy, at, is_foreign: true, reached }
    }

    /// No address is below.
    pub(crate) fn base(&self) -> usize {
        self.base
    }

    /// The kind of pages of the first one.
    pub(crate) fn policy(&self) -> Policy {
        self.policy
    }

    /// All offsets.
    pub(crate) fn end(&self) -> usize {
        self.start(self.count)
    }

    /// The segment that an offset is in.
    #[inline(always)]
    pub(crate) fn of(&self, offset: usize) -> usize {
        if self.count == 1 { 0 } else { (offset / self.first + 1).ilog2() as usize }
    }

    /// The first offset of a segment.
    #[inline(always)]
    pub(crate) fn start(&self, segment: usize) -> usize {
        self.first * ((1 << segment) - 1)
    }

    /// The first segment from this one on that has so many bytes.
    pub(crate) fn holding(&self, bytes: usize, from: usize) -> Option<usize> {
        (from..self.count).find(|segment| self.first << segment >= bytes)
    }

    /// Where a segment is; mapped if it is not yet. `None` where there is no address space.
    #[inline(always)]
    pub(crate) fn address(&self, segment: usize) -> Option<usize> {
        // Acquire: with the publisher's Release: what an earlier arena's threads did there is over.
        match self.at.get(segment)?.load(Ordering::Acquire) {
            0 => self.map(segment),
            word => Some(word & !FLAGS),
        }
    }

    #[cold]
    #[inline(never)]
    fn map(&self, segment: usize) -> Option<usize> {
        let len = self.first << segment;
        let address = |piece: &Piece| piece.mapping.as_ptr().addr();
        // What is too far away for the buffers' words is dropped.
        let is_near =
            |piece: &Piece| address(piece) >= self.base && address(piece) + len <= self.base + self.span;
        let new = || Some(Piece { mapping: Mapping::silently(len, self.policy)?, used: false });
        let piece = match kept::take(len, self.policy).filter(is_near).or_else(new)? {
            piece if is_near(&piece) => piece,
            far => {
                // First: its address space counts against the process's limit.
                drop(far);
                self.nearby(len)?
            }
        };
        let address = address(&piece);
        let word = piece.pack();
        watched::begins(address);
        // Release: see `address`.
        match self.at[segment].compare_exchange(0, word, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Some(word & !FLAGS),
            Err(other) => {
                watched::ends(address);
                // SAFETY: packed just now, and published to nobody.
                kept::give(unsafe { Piece::unpack(word, len) }.mapping);
                Some(other & !FLAGS)
            }
        }
    }

    /// A segment at some address that is not too far.
    fn nearby(&self, len: usize) -> Option<Piece> {
        let first = self.at[0].load(Ordering::Relaxed) & !FLAGS;
        let mut addresses = nearby::addresses(first, len, self.policy.granule(), self.base, self.span);
        let mapping = addresses.find_map(|address| Mapping::silently_at(address, len, self.policy))?;
        Some(Piece { mapping, used: false })
    }

    fn mapped(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let words = self.at[..self.count].iter().map(|place| place.load(Ordering::Acquire));
        words.enumerate().filter(|(_, word)| *word != 0)
    }

    /// What is mapped, each with its first offset.
    pub(crate) fn extents(&self) -> impl Iterator<Item = (usize, Extent)> + '_ {
        self.mapped().map(|(segment, word)| {
            (self.start(segment), Extent { start: word & !FLAGS, bytes: self.first << segment })
        })
    }

    /// The segment that an address is in; none if the memory is somebody else's.
    pub(crate) fn around(&self, address: usize) -> Option<Extent> {
        let holds = |extent: &Extent| (extent.start..extent.end()).contains(&address);
        self.extents().map(|(_, extent)| extent).find(|extent| !self.is_foreign && holds(extent))
    }

    /// Whether the memory is somebody else's.
    pub(crate) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// What tools were told of.
    pub(crate) fn reached(&self) -> &Reached {
        &self.reached
    }

    /// Bytes mapped, and how many of them are not on the pages that the first segment is on.
    pub(crate) fn mapped_bytes(&self) -> (usize, usize) {
        let other = |word: usize| Policy::ALL[word & POLICY] != self.policy;
        self.mapped().fold((0, 0), |(all, others), (segment, word)| {
            let len = self.first << segment;
            (all + len, others + if other(word) { len } else { 0 })
        })
    }

    /// How many bytes at the beginning of an extent may not be zero, if what is beyond the offset `dirty` is as the kernel gave it.
    pub(crate) fn dirty_bytes(&self, extent: Extent, dirty: usize) -> usize {
        for (segment, word) in self.mapped() {
            let (start, len) = (word & !FLAGS, self.first << segment);
            if (start..start + len).contains(&extent.start) {
                let until =
                    if word & USED != 0 { len } else { dirty.saturating_sub(self.start(segment)).min(len) };
                return (start + until).saturating_sub(extent.start).min(extent.bytes);
            }
        }
        extent.bytes
    }

    /// Gives the memory back to the kernel; addresses stay. The caller is alone.
    pub(crate) fn discard(&self) -> Result<(), pages::Error> {
        for (segment, place) in self.at[..self.count].iter().enumerate() {
            let word = place.load(Ordering::Relaxed);
            if word == 0 {
                continue;
            }
            // SAFETY: packed when it was published, and put back below; nobody else uses the arena.
            let mut piece = unsafe { Piece::unpack(word, self.first << segment) };
            let outcome = piece.mapping.discard();
            piece.used &= outcome.is_err();
            place.store(piece.pack(), Ordering::Relaxed);
            outcome?;
        }
        Ok(())
    }
}

impl Drop for Segments {
    fn drop(&mut self) {
        if self.is_foreign {
            return;
        }
        watched::all_end(self.extents(), &self.reached);
        for (segment, word) in self.mapped() {
            // SAFETY: packed when it was published; nobody uses the arena any more.
            kept::give(unsafe { Piece::unpack(word, self.first << segment) }.mapping);
        }
    }
}
