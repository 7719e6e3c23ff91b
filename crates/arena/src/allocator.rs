//! The arena as an allocator of collections: `allocator_api2::vec::Vec::new_in(&arena)`, `hashbrown::HashMap::new_in(&arena)`.

use crate::arena::Arena;
use allocator_api2::alloc::{AllocError, Allocator};
use std::alloc::Layout;
use std::ptr::NonNull;

// SAFETY: what is handed out stays valid and where it is until the arena is reset or dropped, which no `&Arena` survives; a copy of
// the reference is the same arena. Freeing does nothing.
unsafe impl Allocator for &Arena {
    #[inline]
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let place = self.try_alloc_layout(layout).map_err(|_| AllocError)?;
        Ok(NonNull::slice_from_raw_parts(place, layout.size()))
    }

    /// Nothing: an arena frees everything at once.
    #[inline]
    unsafe fn deallocate(&self, _place: NonNull<u8>, _layout: Layout) {}

    /// The bytes stay where they are; what is cut off is not used again before a reset.
    #[inline]
    unsafe fn shrink(
        &self,
        place: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        if place.addr().get().is_multiple_of(new.align()) {
            return Ok(NonNull::slice_from_raw_parts(place, new.size()));
        }
        let moved = self.allocate(new)?;
        // SAFETY: the caller vouches for `new.size() <= old.size()` bytes at `place`; the other place is new.
        unsafe { moved.cast::<u8>().copy_from_nonoverlapping(place, new.size().min(old.size())) };
        Ok(moved)
    }
}
