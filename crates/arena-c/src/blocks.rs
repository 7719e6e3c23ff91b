//! Blocks that change their size, and copies of texts.

use crate::{terrace_arena, terrace_arena_alloc_aligned};
use allocator_api2::alloc::Allocator;
use std::alloc::Layout;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{self, NonNull};

/// The alignment of everything that is not asked to have another one.
const ALIGN: usize = 16;

/// `old_size` bytes of this arena become `new_size` bytes: where they are if they are the last ones of their buffer or become fewer, otherwise
/// in another place, with what they hold. NULL when the arena has not so many left; then `place` stays as it is. `place` may be NULL.
///
/// # Safety
/// As for `terrace_arena_alloc`; `place` is NULL or from this arena, with this size and a multiple of 16, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_arena_realloc(
    arena: *const terrace_arena,
    place: *mut c_void,
    old_size: usize,
    new_size: usize,
) -> *mut c_void {
    let layout = |size| Layout::from_size_align(size, ALIGN);
    let (Ok(old), Ok(new)) = (layout(old_size), layout(new_size)) else { return ptr::null_mut() };
    let Some(block) = NonNull::new(place.cast::<u8>()) else {
        // SAFETY: the caller's promise.
        return unsafe { terrace_arena_alloc_aligned(arena, new_size, ALIGN) };
    };
    // SAFETY: the caller's promise.
    let arena = unsafe { &(*arena).arena };
    let resized =
        // SAFETY: as above: a block of this arena with this layout.
        unsafe { if new_size >= old_size { arena.grow(block, old, new) } else { arena.shrink(block, old, new) } };
    resized.map_or(ptr::null_mut(), |block| block.cast::<c_void>().as_ptr())
}

/// Gives `size` bytes back if they are the last ones of their buffer; otherwise they stay until the next reset. `place` may be NULL.
///
/// # Safety
/// As for `terrace_arena_realloc`, at whatever alignment.
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
