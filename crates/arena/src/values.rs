//! Values, slices and texts in an arena, in a thread's hold on one, and in a scope.

use crate::arena::Arena;
use crate::error::{AllocError, exhausted};
use crate::local::Local;
use crate::scope::Scope;
use crate::text::String;
use allocator_api2::{boxed::Box, vec::Vec};
use std::alloc::Layout;
use std::fmt::{self, Write as _};
use std::mem::MaybeUninit;
use std::ptr;

/// What can be had of all that have `try_alloc_layout`, for as long as what that gives stays: an arena's until a reset, which needs the
/// arena exclusively, and a scope's until its end, which no reference of its lifetime survives.
macro_rules! values {
    ($lifetime:lifetime) => {
        /// A value, or an error when the arena has no room for it (the value is then dropped).
        #[inline(always)]
        #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
        pub fn try_alloc<T>(&self, value: T) -> Result<&$lifetime mut T, AllocError> {
            let place = self.try_alloc_layout(Layout::new::<T>())?.cast::<T>();
            // SAFETY: of T's size and alignment, nobody else's, alive as long as the reference: see the macro.
            unsafe {
                place.write(value);
                Ok(&mut *place.as_ptr())
            }
        }

        /// A value.
        ///
        /// # Panics
        /// If the arena has too few bytes left.
        #[inline(always)]
        #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
        pub fn alloc<T>(&self, value: T) -> &$lifetime mut T {
            match self.try_alloc(value) {
                Ok(value) => value,
                Err(error) => exhausted(error),
            }
        }

        /// A value made where it stays, once there is room for it.
        ///
        /// # Errors
        /// When the arena has no room for it; then it is not made.
        #[inline(always)]
        #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
        pub fn try_alloc_with<T>(&self, make: impl FnOnce() -> T) -> Result<&$lifetime mut T, AllocError> {
            let place = self.try_alloc_layout(Layout::new::<T>())?.cast::<T>();
            // SAFETY: as in `try_alloc`.
            unsafe {
                place.write(make());
                Ok(&mut *place.as_ptr())
            }
        }

        /// Room for so many values, not yet written to.
        ///
        /// # Errors
        /// When the arena has no room for them.
        #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
        pub fn try_alloc_slice_uninit<T>(
            &self,
            length: usize,
        ) -> Result<&$lifetime mut [MaybeUninit<T>], AllocError> {
            let layout = Layout::array::<T>(length).map_err(|_| AllocError)?;
            let place = self.try_alloc_layout(layout)?.cast::<MaybeUninit<T>>();
            // SAFETY: of the slice's size and alignment, nobody else's, alive as in `try_alloc`; any contents are right for MaybeUninit.
            Ok(unsafe { &mut *ptr::slice_from_raw_parts_mut(place.as_ptr(), length) })
        }

        /// A slice of values, each made by a function of its index. If the function panics, what was made stays undropped.
        ///
        /// # Errors
        /// When the arena has no room for them; then none is made.
        #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
        pub fn try_alloc_slice_with<T>(
            &self,
            length: usize,
            mut make: impl FnMut(usize) -> T,
        ) -> Result<&$lifetime mut [T], AllocError> {
            let slice = self.try_alloc_slice_uninit::<T>(length)?;
            for (index, place) in slice.iter_mut().enumerate() {
                place.write(make(index));
            }
            // SAFETY: every one was just written.
            Ok(unsafe { &mut *(ptr::from_mut(slice) as *mut [T]) })
        }

        /// As `try_alloc_slice_with`.
        ///
        /// # Panics
        /// If the arena has too few bytes left.
        #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
        pub fn alloc_slice_with<T>(&self, length: usize, make: impl FnMut(usize) -> T) -> &$lifetime mut [T] {
            self.try_alloc_slice_with(length, make).unwrap_or_else(|error| exhausted(error))
        }

        /// A copy of a slice.
        ///
        /// # Errors
        /// When the arena has no room for it.
        #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
        pub fn try_alloc_slice_copy<T: Copy>(&self, from: &[T]) -> Result<&$lifetime mut [T], AllocError> {
            let slice = self.try_alloc_slice_uninit::<T>(from.len())?;
            // SAFETY: as long as `from`, and new, so that they do not overlap; T is Copy.
            unsafe {
                ptr::copy_nonoverlapping(from.as_ptr(), slice.as_mut_ptr().cast::<T>(), from.len());
                Ok(&mut *(ptr::from_mut(slice) as *mut [T]))
            }
        }

        /// As `try_alloc_slice_copy`.
        ///
        /// # Panics
        /// If the arena has too few bytes left.
        #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
        pub fn alloc_slice_copy<T: Copy>(&self, from: &[T]) -> &$lifetime mut [T] {
            self.try_alloc_slice_copy(from).unwrap_or_else(|error| exhausted(error))
        }

        /// A copy of a text.
        ///
        /// # Errors
        /// When the arena has too few bytes left.
        #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
        pub fn try_alloc_str(&self, from: &str) -> Result<&$lifetime mut str, AllocError> {
            let bytes = self.try_alloc_slice_copy(from.as_bytes())?;
            // SAFETY: a copy of what is UTF-8.
            Ok(unsafe { std::str::from_utf8_unchecked_mut(bytes) })
        }

        /// As `try_alloc_str`.
        ///
        /// # Panics
        /// If the arena has too few bytes left.
        #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
        pub fn alloc_str(&self, from: &str) -> &$lifetime mut str {
            self.try_alloc_str(from).unwrap_or_else(|error| exhausted(error))
        }
    };
}

impl Arena {
    values!('_);
}

impl<'a> Local<'a> {
    values!('a);
}

impl<'s> Scope<'s> {
    values!('s);
}

/// What grows while it is made.
impl Arena {
    /// A value in a box, which drops it; its memory is given back if it is the buffer's last.
    ///
    /// # Errors
    /// When the arena has no room for it; the value is then dropped.
    pub fn try_alloc_box<T>(&self, value: T) -> Result<Box<T, &Arena>, AllocError> {
        Box::try_new_in(value, self).map_err(|_| AllocError)
    }

    /// As [`Arena::try_alloc_box`].
    ///
    /// # Panics
    /// If the arena has too few bytes left.
    pub fn alloc_box<T>(&self, value: T) -> Box<T, &Arena> {
        self.try_alloc_box(value).unwrap_or_else(|error| exhausted(error))
    }

    /// A slice of what an iterator gives, however much that is. If the iterator panics, what it gave is dropped.
    ///
    /// # Errors
    /// When the arena has no room for it; what the iterator gave is then dropped.
    #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
    pub fn try_alloc_slice_from_iter<T>(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> Result<&mut [T], AllocError> {
        let values = values.into_iter();
        let mut list = Vec::new_in(self);
        list.try_reserve(values.size_hint().0).map_err(|_| AllocError)?;
        for value in values {
            list.try_reserve(1).map_err(|_| AllocError)?;
            list.push(value);
        }
        list.shrink_to_fit();
        Ok(list.leak())
    }

    /// As [`Arena::try_alloc_slice_from_iter`].
    ///
    /// # Panics
    /// If the arena has too few bytes left.
    #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
    pub fn alloc_slice_from_iter<T>(&self, values: impl IntoIterator<Item = T>) -> &mut [T] {
        self.try_alloc_slice_from_iter(values).unwrap_or_else(|error| exhausted(error))
    }

    /// What `format!` would give.
    ///
    /// ```
    /// let arena = arena::Arena::new();
    /// let text = arena.alloc_fmt(format_args!("{}:{}", "localhost", 80));
    /// assert_eq!(text, "localhost:80");
    /// ```
    ///
    /// # Errors
    /// When the arena has no room for it, or a value refuses to be written.
    #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
    pub fn try_alloc_fmt(&self, arguments: fmt::Arguments<'_>) -> Result<&mut str, AllocError> {
        let mut text = String::new_in(self);
        text.write_fmt(arguments).map_err(|_| AllocError)?;
        Ok(text.into_str())
    }

    /// As [`Arena::try_alloc_fmt`].
    ///
    /// # Panics
    /// If the arena has no room for it, or a value refuses to be written.
    #[allow(clippy::mut_from_ref, reason = "every call gives other memory")]
    pub fn alloc_fmt(&self, arguments: fmt::Arguments<'_>) -> &mut str {
        self.try_alloc_fmt(arguments).unwrap_or_else(|error| exhausted(error))
    }
}
