//! Blocks that change their size, and copies of texts.

use crate::{ALIGN, terrace_arena, terrace_arena_alloc_aligned};
use allocator_api2::alloc::Allocator;
use std::alloc::Layout;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{self, NonNull};

/// `old_size` bytes of this arena become `new_size` bytes at a multiple of 16: where they are if they are there already, and are the last ones of
/// their buffer or become fewer; otherwise in another place, with what they hold. NULL when the arena has not so many left; then `place` stays as it is.
/// `place` may be NULL. What has to stay at a multiple of more than 16 needs `terrace_arena_realloc_aligned`.
///
/// # Safety
/// As for `terrace_arena_alloc`; `place` is NULL or from this arena, with this size, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_arena_realloc(
    arena: *const terrace_arena,
    place: *mut c_void,
    old_size: usize,
    new_size: usize,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { terrace_arena_realloc_aligned(arena, place, old_size, new_size, ALIGN) }
}

/// The same at a multiple of `align`, a power of two, wherever `place` is; NULL also when `align` is none.
///
/// # Safety
/// As for `terrace_arena_realloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_arena_realloc_aligned(
    arena: *const terrace_arena,
    place: *mut c_void,
    old_size: usize,
    new_size: usize,
    align: usize,
) -> *mut c_void {
    // The place may be at a multiple of less than `align`; the arena asks only where it is.
    let (Ok(old), Ok(new)) = (Layout::from_size_align(old_size, 1), Layout::from_size_align(new_size, align))
    else {
        return ptr::null_mut();
    };
    let Some(block) = NonNull::new(place.cast::<u8>()) else {
        // SAFETY: the caller's promise.
        return unsafe { terrace_arena_alloc_aligned(arena, new_size, align) };
    };
    // SAFETY: the caller's promise.
    let arena = unsafe { &(*arena).arena };
    let resized =
        // SAFETY: as above: a block of this arena of this size.
        unsafe { if new_size >= old_size { arena.grow(block, old, new) } else { arena.shrink(block, old, new) } };
    resized.map_or(ptr::null_mut(), |block| block.cast::<c_void>().as_ptr())
}

/// Gives `size` bytes back if they are the last ones of their buffer; otherwise they stay until the next reset. `place` may be NULL.
///
/// # Safety
/// As for `terrace_arena_realloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_arena_free_last(
    arena: *const terrace_arena,
    place: *mut c_void,
    size: usize,
) {
    if let (Some(block), Ok(layout)) = (NonNull::new(place.cast::<u8>()), Layout::from_size_align(size, 1)) {
        // SAFETY: the caller's promise.
        unsafe { (&(*arena).arena).deallocate(block, layout) };
    }
}

/// A copy of a text, with its final 0; NULL when the arena has too few bytes left.
///
/// # Safety
/// As for `terrace_arena_alloc`; `text` ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_arena_strdup(
    arena: *const terrace_arena,
    text: *const c_char,
) -> *mut c_char {
    // SAFETY: the caller's promise.
    let (arena, bytes) = unsafe { (&(*arena).arena, CStr::from_ptr(text).to_bytes_with_nul()) };
    arena.try_alloc_slice_copy(bytes).map_or(ptr::null_mut(), |copy| copy.as_mut_ptr().cast())
}

/// Gives the memory back to the kernel that is kept for arenas to come; how many bytes it was.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_trim() -> usize {
    arena::trim()
}
