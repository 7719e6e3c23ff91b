//! A thread's own hold on a shared arena.

use crate::arena::Arena;
use crate::error::AllocError;
use crate::grain::GRAIN;
use crate::watched;
use hab::Extent;
use std::alloc::Layout;
use std::cell::Cell;
use std::ptr::NonNull;

/// A buffer of an arena that is held in place of being found: what a thread keeps while it allocates much. Made by [`Arena::local`].
///
/// It begins with a part of the thread's buffer, if there is one, and its rest becomes the thread's when it is dropped: a hold for each of
/// many single objects takes no more memory than one for all. A thread that allocates in the arena itself while it has a hold loses the
/// smaller one of both rests.
///
/// The fast path is that of a bump arena of one's own: no look at thread-local memory, and top and end where the compiler may keep them in
/// registers. It can be sent to another thread, but not shared:
///
/// ```compile_fail,E0277
/// fn shared<T: Sync>(_: T) {}
/// let arena = arena::Arena::new();
/// shared(arena.local());
/// ```
///
/// What it hands out is the arena's, and lives as long as that is not reset:
///
/// ```
/// let arena = arena::Arena::new();
/// let value = arena.local().alloc(7);
/// assert_eq!(*value, 7);
/// ```
///
/// ```compile_fail,E0502
/// let mut arena = arena::Arena::new();
/// let local = arena.local();
/// arena.reset();
/// local.alloc(1);
/// ```
#[derive(Debug)]
pub struct Local<'a> {
    arena: &'a Arena,
    top: Cell<usize>,
    end: Cell<usize>,
    size: Cell<usize>,
}

/// A request of more than this part of a buffer goes past it.
const REQUESTS_PER_BUFFER: usize = 8;

impl Arena {
    /// A buffer of one's own for as long as much is allocated: see [`Local`].
    pub fn local(&self) -> Local<'_> {
        Local { arena: self, top: Cell::new(0), end: Cell::new(0), size: Cell::new(0) }
    }
}

impl<'a> Local<'a> {
    /// The arena.
    pub fn arena(&self) -> &'a Arena {
        self.arena
    }

    /// As [`Arena::try_alloc_layout`].
    ///
    /// Cost when it fits: an add, a bounds check, a store.
    #[inline(always)]
    pub fn try_alloc_layout(&self, layout: Layout) -> Result<NonNull<u8>, AllocError> {
        let (size, align) = (layout.size(), layout.align());
        if size == 0 {
            return Ok(NonNull::without_provenance(layout.align().try_into().map_err(|_| AllocError)?));
        }
        // No overflow: addresses and rounded sizes are below 2^63 each.
        let bytes = watched::with_gap((size + GRAIN - 1) & !(GRAIN - 1));
        let top = self.top.get();
        let start = if align <= GRAIN { top } else { (top + align - 1) & !(align - 1) };
        if start + bytes > self.end.get() {
            return self.refill(layout);
        }
        self.top.set(start + bytes);
        self.arena.prefetch_behind(start, bytes);
        Ok(self.arena.hand_out(start, size))
    }

    #[cold]
    #[inline(never)]
    fn refill(&self, layout: Layout) -> Result<NonNull<u8>, AllocError> {
        let sizes = self.arena.hold_sizes();
        let size = (self.size.get() * 2).clamp(sizes.first, sizes.last);
        // With zeroing at allocation each one has to be looked at; so has each that is large.
        if !self.arena.hands_out_buffers() || layout.size() + layout.align() > size / REQUESTS_PER_BUFFER {
            return self.arena.try_alloc_layout(layout);
        }
        let room = watched::room(layout.size()) + layout.align().next_multiple_of(GRAIN);
        let Some(buffer) = self.arena.buffer(room, size) else { return self.arena.try_alloc_layout(layout) };
        // What is left goes on where it can.
        if buffer.start != self.end.get() {
            self.top.set(buffer.start);
        }
        self.end.set(buffer.end());
        if buffer.bytes == size {
            self.size.set(size);
        }
        self.try_alloc_layout(layout)
    }

    /// Whether a block is the last of the buffer, and its bytes in whole grains.
    fn is_last(&self, place: NonNull<u8>, size: usize) -> Option<(usize, usize)> {
        let (start, bytes) = (place.addr().get(), watched::room(size));
        (size > 0 && start + bytes == self.top.get()).then_some((start, bytes))
    }

    /// As `Arena::resize_in_place`.
    pub(crate) fn resize_in_place(&self, place: NonNull<u8>, old: usize, new: usize) -> bool {
        self.arena.watch_resize(place, old, new, || self.resize(place, old, new))
    }

    fn resize(&self, place: NonNull<u8>, old: usize, new: usize) -> bool {
        if !self.arena.takes_back() {
            return self.arena.resize(place, old, new);
        }
        let Some((start, _)) = self.is_last(place, old) else {
            return self.arena.resize(place, old, new);
        };
        let top = start + watched::room(new);
        if top > self.end.get() {
            return false;
        }
        self.top.set(top);
        true
    }
}

/// What is left of the buffer becomes the thread's, if it has no better one.
impl Drop for Local<'_> {
    fn drop(&mut self) {
        let rest = Extent { start: self.top.get(), bytes: self.end.get() - self.top.get() };
        if rest.bytes > 0 {
            self.arena.adopt(rest);
        }
    }
}
