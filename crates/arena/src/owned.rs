//! A value that others refer to for as long as its owner lives, without a lifetime in their types.

use std::ptr::NonNull;

/// A boxed value. References to it are as long as the owner of both sees to it.
#[derive(Debug)]
pub(crate) struct Owned<T: ?Sized>(NonNull<T>);

// SAFETY: as a `Box<T>`, which may be sent if `T` may.
unsafe impl<T: Send + ?Sized> Send for Owned<T> {}
// SAFETY: as a `Box<T>`.
unsafe impl<T: Sync + ?Sized> Sync for Owned<T> {}

impl<T> Owned<T> {
    pub(crate) fn new(value: T) -> Owned<T> {
        Owned::of(Box::new(value))
    }
}

impl<T: ?Sized> Owned<T> {
    pub(crate) fn of(value: Box<T>) -> Owned<T> {
        Owned(NonNull::from(Box::leak(value)))
    }

    pub(crate) fn get(&self) -> &T {
        // SAFETY: alive until `self` is dropped.
        unsafe { self.0.as_ref() }
    }

    /// A reference whose end the compiler does not see.
    ///
    /// # Safety
    /// It is not used after `self` is dropped: whoever holds both declares this field behind all that refer to it.
    pub(crate) unsafe fn forever(&self) -> &'static T {
        // SAFETY: the caller's promise.
        unsafe { &*self.0.as_ptr().cast_const() }
    }
}

impl<T: ?Sized> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: from `Box::leak`, given back once; nobody refers to it any more (see `forever`).
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
