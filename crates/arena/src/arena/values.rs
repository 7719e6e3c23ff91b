//! Values, slices and texts in an arena.

use super::{Arena, exhausted};
use crate::error::AllocError;
use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr;

impl Arena {
    /// A value, or an error when the arena has no room for it (the value is then dropped).
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
    pub fn try_alloc<T>(&self, value: T) -> Result<&mut T, AllocError> {
        let place = self.try_alloc_layout(Layout::new::<T>())?.cast::<T>();
        // SAFETY: of T's size and alignment, nobody else's, alive until a reset, which needs `&mut self`.
        unsafe {
            place.write(value);
            Ok(&mut *place.as_ptr())
        }
    }

    /// A value.
    ///
    /// # Panics
    /// If the arena has not so many bytes left.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
    pub fn alloc<T>(&self, value: T) -> &mut T {
        match self.try_alloc(value) {
            Ok(value) => value,
            Err(error) => exhausted(error),
        }
    }

    /// Room for so many values, not yet written to.
    #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
    pub fn try_alloc_slice_uninit<T>(&self, length: usize) -> Result<&mut [MaybeUninit<T>], AllocError> {
        let layout = Layout::array::<T>(length).map_err(|_| AllocError)?;
        let place = self.try_alloc_layout(layout)?.cast::<MaybeUninit<T>>();
        // SAFETY: of the slice's size and alignment, nobody else's, alive until a reset; any contents are right for MaybeUninit.
        Ok(unsafe { &mut *ptr::slice_from_raw_parts_mut(place.as_ptr(), length) })
    }

    /// A slice of values, each made by a function of its index. If the function panics, what was made stays undropped.
    #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
    pub fn try_alloc_slice_with<T>(
        &self,
        length: usize,
        mut make: impl FnMut(usize) -> T,
    ) -> Result<&mut [T], AllocError> {
        let slice = self.try_alloc_slice_uninit::<T>(length)?;
        for (index, place) in slice.iter_mut().enumerate() {
            place.write(make(index));
        }
        // SAFETY: every one was just written.
        Ok(unsafe { &mut *(ptr::from_mut(slice) as *mut [T]) })
    }

    /// A copy of a slice.
    #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
    pub fn try_alloc_slice_copy<T: Copy>(&self, from: &[T]) -> Result<&mut [T], AllocError> {
        let slice = self.try_alloc_slice_uninit::<T>(from.len())?;
        // SAFETY: as long as `from`, and new, so that they do not overlap; T is Copy.
        unsafe {
            ptr::copy_nonoverlapping(from.as_ptr(), slice.as_mut_ptr().cast::<T>(), from.len());
            Ok(&mut *(ptr::from_mut(slice) as *mut [T]))
        }
    }

    /// As [`Arena::try_alloc_slice_with`].
    ///
    /// # Panics
    /// If the arena has not so many bytes left.
    #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
    pub fn alloc_slice_with<T>(&self, length: usize, make: impl FnMut(usize) -> T) -> &mut [T] {
        self.try_alloc_slice_with(length, make).unwrap_or_else(|error| exhausted(error))
    }

    /// As [`Arena::try_alloc_slice_copy`].
    ///
    /// # Panics
    /// If the arena has not so many bytes left.
    #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
    pub fn alloc_slice_copy<T: Copy>(&self, from: &[T]) -> &mut [T] {
        self.try_alloc_slice_copy(from).unwrap_or_else(|error| exhausted(error))
    }

    /// A copy of a text.
    ///
    /// # Panics
    /// If the arena has not so many bytes left.
    #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
    pub fn alloc_str(&self, from: &str) -> &mut str {
        let bytes = self.alloc_slice_copy(from.as_bytes());
        // SAFETY: a copy of what is UTF-8.
        unsafe { std::str::from_utf8_unchecked_mut(bytes) }
    }
}
