//! Blocks that grow, shrink or are given back where they are: the last ones of a buffer.

use super::Arena;
use crate::blocks;
use crate::grain::GRAIN;
use crate::thread;
use crate::watched;
use crate::zero::Zeroing;
use hab::Extent;
use std::ptr::NonNull;

impl Arena {
    /// Whether bytes that were handed out may be handed out again before a reset: not where they would have to be zero.
    pub(crate) fn takes_back(&self) -> bool {
        self.zeroing == Zeroing::None
    }

    /// Whether a block of `old` bytes is one of `new` bytes now (0: none), where it is. A block that is not the last one of a buffer can shrink, which gains
    /// nothing.
    pub(crate) fn resize_in_place(&self, place: NonNull<u8>, old: usize, new: usize) -> bool {
        self.watch_resize(place, old, new, || self.resize(place, old, new))
    }

    /// What a block gives up it gives up before somebody else can have it; what it gains is its own.
    #[inline(always)]
    pub(crate) fn watch_resize(
        &self,
        place: NonNull<u8>,
        old: usize,
        new: usize,
        resize: impl FnOnce() -> bool,
    ) -> bool {
        let start = place.addr().get();
        blocks::shrinks(self.segments(), start, old, new);
        let resized = resize();
        if resized {
            blocks::grew(self.segments(), start, old, new, !self.takes_back());
        }
        resized
    }

    /// As [`Arena::resize_in_place`], without a word to tools.
    pub(crate) fn resize(&self, place: NonNull<u8>, old: usize, new: usize) -> bool {
        let grains = watched::room;
        let fits = grains(new) <= grains(old);
        if old == 0 || grains(new) == grains(old) || !self.takes_back() {
            return old != 0 && fits;
        }
        let block = Extent { start: place.addr().get(), bytes: grains(old) };
        let moved = match self.threads {
            Some(_) => thread::resize(self.front.number, block, grains(new)),
            // A block below a buffer's size could be anywhere; one that is not at the top of this CPU's word is left alone.
            None => self.levels.resize(block, grains(new)),
        };
        moved || fits
    }

    /// A buffer of `desired` bytes for a [`Local`](crate::Local), or what the thread's holds if that is at least `min`; all in whole grains.
    pub(crate) fn buffer(&self, min: usize, desired: usize) -> Option<Extent> {
        // First: a hold for a single object would otherwise cost a buffer.
        thread::lend(self.front.number, min, desired).or_else(|| {
            let start = self.levels.allocate(desired, GRAIN, |extent| self.fresh(extent))?;
            Some(Extent { start, bytes: desired })
        })
    }

    /// How large a [`Local`](crate::Local)'s buffers are.
    pub(crate) fn hold_sizes(&self) -> thread::Sizes {
        self.holds
    }

    /// Whether whole buffers may be handed out: not where each object is looked at.
    pub(crate) fn hands_out_buffers(&self) -> bool {
        self.zeroing != Zeroing::AtAllocation
    }

    /// Takes the rest of a [`Local`](crate::Local)'s buffer, which nobody has written to since the arena handed it out: back into the core's
    /// buffer that it is of, or for the thread's own.
    pub(crate) fn adopt(&self, rest: Extent) {
        if self.threads.is_some() || !self.levels.resize(rest, 0) {
            thread::adopt(self.front.number, rest);
        }
    }
}
