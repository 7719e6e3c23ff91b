//! The arena as an allocator of collections: `allocator_api2::vec::Vec::new_in(&arena)`, `hashbrown::HashMap::new_in(&arena)`.
//!
//! The last block of a buffer grows, shrinks and is given back where it is; so a vector that is filled by one thread is not copied as long as
//! its buffer has room. All other blocks stay until a reset. With zeroing nothing is given back: what is handed out then has to be zero.

use crate::arena::Arena;
use crate::local::Local;
use allocator_api2::alloc::{AllocError, Allocator};
use std::alloc::Layout;
use std::ptr::NonNull;

macro_rules! allocator {
    ($type:ty) => {
        // SAFETY: what is handed out stays valid and where it is until the arena is reset or dropped, which no such reference survives; a copy
        // of the reference is the same arena. A block is given back or moved only by its owner.
        unsafe impl Allocator for $type {
            #[inline]
            fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
                let place = self.try_alloc_layout(layout).map_err(|_| AllocError)?;
                Ok(NonNull::slice_from_raw_parts(place, layout.size()))
            }

            #[inline]
            unsafe fn deallocate(&self, place: NonNull<u8>, layout: Layout) {
                self.resize_in_place(place, layout.size(), 0);
            }

            #[inline]
            unsafe fn grow(
                &self,
                place: NonNull<u8>,
                old: Layout,
                new: Layout,
            ) -> Result<NonNull<[u8]>, AllocError> {
                if place.addr().get().is_multiple_of(new.align())
                    && self.resize_in_place(place, old.size(), new.size())
                {
                    return Ok(NonNull::slice_from_raw_parts(place, new.size()));
                }
                let moved = self.allocate(new)?;
                // SAFETY: the caller vouches for `old.size()` bytes at `place`, no more than `new` has; the other place is new.
                unsafe {
                    moved.cast::<u8>().copy_from_nonoverlapping(place, old.size().min(new.size()));
                    self.deallocate(place, old);
                }
                Ok(moved)
            }

            #[inline]
            unsafe fn grow_zeroed(
                &self,
                place: NonNull<u8>,
                old: Layout,
                new: Layout,
            ) -> Result<NonNull<[u8]>, AllocError> {
                // SAFETY: the caller's promise.
                let grown = unsafe { self.grow(place, old, new)? };
                // SAFETY: the block has `new.size()` bytes, and those behind the old ones are nobody's yet.
                unsafe { grown.cast::<u8>().add(old.size()).write_bytes(0, new.size() - old.size()) };
                Ok(grown)
            }

            #[inline]
            unsafe fn shrink(
                &self,
                place: NonNull<u8>,
                old: Layout,
                new: Layout,
            ) -> Result<NonNull<[u8]>, AllocError> {
                // SAFETY: the caller's promise, which is that of `grow` but for the sizes: it copies the smaller one.
                unsafe { self.grow(place, old, new) }
            }
        }
    };
}

allocator!(&Arena);
allocator!(&Local<'_>);
