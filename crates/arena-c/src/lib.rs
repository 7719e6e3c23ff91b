//! The C interface of the arena: `include/terrace_arena.h` is generated from this file.
//!
//! No panic crosses the border: what could fail gives NULL or false.
#![allow(non_camel_case_types, reason = "C's names")]

use arena::{Arena, PageSize, Path, Policy, Size, Zeroing};
use std::alloc::Layout;
use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

mod blocks;

pub use blocks::{
    terrace_arena_free_last, terrace_arena_realloc, terrace_arena_realloc_aligned, terrace_arena_strdup,
    terrace_trim,
};

/// The alignment of everything that is not asked to have another one.
const ALIGN: usize = 16;

/// An arena.
pub struct terrace_arena {
    arena: Arena,
}

/// The kind of pages.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum terrace_pages {
    /// Small pages.
    Small,
    /// Transparent huge pages.
    Transparent,
    /// Huge pages of 2 MB from their pool.
    Huge2m,
    /// Huge pages of 1 GB from their pool.
    Huge1g,
}

/// Which way to a buffer is taken first.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum terrace_path {
    /// The arena's choice: thread buffers.
    Auto,
    /// Thread buffers: the fastest, and memory for every thread.
    Thread,
    /// Core buffers only: memory for every core, whatever the number of threads.
    Core,
}

/// When memory is made zero.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum terrace_zeroing {
    /// Never: memory holds what was there before, of this arena or of an earlier one.
    None,
    /// A whole buffer at once.
    AtRefill,
    /// Each allocation by itself.
    AtAllocation,
}

/// How an arena is made. All zeros is a good choice.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct terrace_arena_options {
    /// `sizeof (terrace_arena_options)`, so that a later version of the library knows which fields there are; 0 is that of version 0.1.
    pub size: usize,
    /// One range of address space in bytes, which costs no memory until it is written to; 0: a limit of up to 64 GB, if the process may have so
    /// much, otherwise the arena grows from 64 KB, to the limit or to 128 GB.
    pub reserve: usize,
    /// The most bytes that are handed out; 0 is the reserve, or what it grows to.
    pub limit: usize,
    /// The kind of pages, one of `terrace_pages`; what cannot be had is replaced by the next smaller kind.
    pub pages: u32,
    /// Which way to a buffer is taken first, one of `terrace_path`.
    pub path: u32,
    /// When memory is made zero, one of `terrace_zeroing`.
    pub zeroing: u32,
    /// Not 0: finds memory for the whole reserve or limit now, of which one has to be given: it is one range then, however large it is.
    pub pre_touch: u8,
    /// The largest thread buffer in bytes; 0 is the arena's choice.
    pub thread_buffer: usize,
    /// A core's buffer in bytes; 0 is the arena's choice.
    pub core_buffer: usize,
    /// A processor's buffer in bytes; 0 is none.
    pub processor_buffer: usize,
}

/// What an arena holds, in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct terrace_stats {
    /// `sizeof (terrace_stats)`, written by the caller: no more is answered than it has room for.
    pub size: usize,
    /// Address space that is mapped.
    pub reserved: usize,
    /// What may be handed out.
    pub limit: usize,
    /// What buffers and large objects have taken of it since the last reset.
    pub used: usize,
    /// Whether core buffers are used in restartable sequences, without a locked instruction.
    pub restartable: bool,
}

/// A place in an arena's life to go back to.
pub struct terrace_checkpoint {
    checkpoint: arena::Checkpoint,
}

fn guarded<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

fn size(bytes: usize, otherwise: Size) -> Size {
    if bytes == 0 { otherwise } else { Size::Bytes(bytes) }
}

// C can store any number where an enumeration or a truth value is meant: the fields are numbers, and looked at.

fn pages(number: u32) -> Result<Policy, String> {
    match number {
        _ if number == terrace_pages::Small as u32 => Ok(Policy::Small),
        _ if number == terrace_pages::Transparent as u32 => Ok(Policy::Transparent),
        _ if number == terrace_pages::Huge2m as u32 => Ok(Policy::Explicit(PageSize::TwoMegabytes)),
        _ if number == terrace_pages::Huge1g as u32 => Ok(Policy::Explicit(PageSize::OneGigabyte)),
        _ => Err(format!("pages {number} is not a value of terrace_pages; use one of its values")),
    }
}

fn path(number: u32) -> Result<Path, String> {
    match number {
        _ if number == terrace_path::Auto as u32 => Ok(Path::Auto),
        _ if number == terrace_path::Thread as u32 => Ok(Path::Thread),
        _ if number == terrace_path::Core as u32 => Ok(Path::Core),
        _ => Err(format!("path {number} is not a value of terrace_path; use one of its values")),
    }
}

fn zeroing(number: u32) -> Result<Zeroing, String> {
    match number {
        _ if number == terrace_zeroing::None as u32 => Ok(Zeroing::None),
        _ if number == terrace_zeroing::AtRefill as u32 => Ok(Zeroing::AtRefill),
        _ if number == terrace_zeroing::AtAllocation as u32 => Ok(Zeroing::AtAllocation),
        _ => Err(format!("zeroing {number} is not a value of terrace_zeroing; use one of its values")),
    }
}

/// The options as this version knows them: what a later caller has beyond them must be zero.
///
/// # Safety
/// NULL, or options of the size that they say.
unsafe fn given(options: *const terrace_arena_options) -> Result<Option<terrace_arena_options>, String> {
    const OWN: usize = size_of::<terrace_arena_options>();
    if options.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise: the first field is there in every version.
    let size = match unsafe { (*options).size } {
        0 => OWN,
        size => size,
    };
    if size < OWN {
        return Err(format!(
            "options of {size} bytes are too small for terrace_arena_options; set size to sizeof (terrace_arena_options)"
        ));
    }
    // SAFETY: so many bytes are there, by the caller's promise.
    let beyond = unsafe { std::slice::from_raw_parts(options.cast::<u8>().add(OWN), size - OWN) };
    if beyond.iter().any(|byte| *byte != 0) {
        return Err(
            "options that this version of the library does not support; install the version of the header"
                .into(),
        );
    }
    // SAFETY: as above.
    Ok(Some(unsafe { *options }))
}

/// Writes a text with its final 0, cut to the room that there is.
///
/// # Safety
/// `to` is NULL or has so many bytes.
unsafe fn write_text(text: &str, to: *mut c_char, length: usize) {
    if !to.is_null() && length > 0 {
        let bytes = text.len().min(length - 1);
        // SAFETY: the caller's promise; the text is shorter.
        unsafe {
            to.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), bytes);
            to.add(bytes).write(0);
        }
    }
}

/// Makes an arena; `options` may be NULL. On failure NULL, and the reason with its remedy as a text in `reason` (at most
/// `reason_length` bytes with the final 0), unless that is NULL.
///
/// # Safety
/// `options` is NULL or points to options; `reason` is NULL or points to `reason_length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_arena_create(
    options: *const terrace_arena_options,
    reason: *mut c_char,
    reason_length: usize,
) -> *mut terrace_arena {
    // SAFETY: the caller's promise.
    let options = unsafe { given(options) };
    let built = guarded(Err("internal error of the arena; please report it".to_owned()), || {
        let mut builder = Arena::builder();
        if let Some(options) = options? {
            builder = builder
                .pages(pages(options.pages)?)
                .path(path(options.path)?)
                .zeroing(zeroing(options.zeroing)?)
                .pre_touch(options.pre_touch != 0)
                .thread_buffers(size(options.thread_buffer, Size::Auto))
                .core_buffers(size(options.core_buffer, Size::Auto))
                .processor_buffers(size(options.processor_buffer, Size::Off));
            if options.reserve > 0 {
                builder = builder.reserve(options.reserve);
            }
            if options.limit > 0 {
                builder = builder.limit(options.limit);
            }
        }
        builder.build().map_err(|error| error.to_string())
    });
    match built {
        Ok(arena) => Box::into_raw(Box::new(terrace_arena { arena })),
        Err(reasons) => {
            // SAFETY: the caller's promise.
            unsafe { write_text(&reasons, reason, reason_length) };
            ptr::null_mut()
        }
    }
}

/// Gives an arena and all of its memory back. NULL does nothing.
///
/// # Safety
/// `arena` is NULL or from `terrace_arena_create`, is not used any more, and neither is its memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_arena_destroy(arena: *mut terrace_arena) {
    if !arena.is_null() {
        // SAFETY: from `Box::into_raw`, given back once by the caller's promise.
        let arena = unsafe { Box::from_raw(arena) };
        guarded((), || drop(arena));
    }
}

/// `size` bytes at a multiple of 16, or NULL when the arena has not so many left. `size` may be 0.
///
/// # Safety
/// `arena` is from `terrace_arena_create` and not destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_arena_alloc(arena: *const terrace_arena, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { allocate(arena, size, ALIGN) }
}

/// Inlined into what C calls: the alignment is a constant in one of them, and the exported functions call each other through the linker's table.
///
/// # Safety
/// As for `terrace_arena_alloc`.
#[inline(always)]
unsafe fn allocate(arena: *const terrace_arena, size: usize, align: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    let arena = unsafe { &(*arena).arena };
    let Ok(layout) = Layout::from_size_align(size, align) else { return ptr::null_mut() };
    arena.try_alloc_layout(layout).map_or(ptr::null_mut(), |place| place.as_ptr().cast())
}

/// `size` bytes at a multiple of `align`, a power of two; NULL when the arena has not so many left, or `align` is none.
///
/// # Safety
/// As for `terrace_arena_alloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_arena_alloc_aligned(
    arena: *const terrace_arena,
    size: usize,
    align: usize,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { allocate(arena, size, align) }
}

/// Takes everything back, in a time that does not depend on how much was handed out.
///
/// # Safety
/// As for `terrace_arena_alloc`; nobody else uses the arena meanwhile, nor its memory afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_arena_reset(arena: *mut terrace_arena) {
    // SAFETY: the caller's promise.
    let arena = unsafe { &mut (*arena).arena };
    guarded((), || arena.reset());
}

/// Takes everything back and gives the memory to the kernel; false when the kernel does not take it.
///
/// # Safety
/// As for `terrace_arena_reset`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_arena_reset_and_release(arena: *mut terrace_arena) -> bool {
    // SAFETY: the caller's promise.
    let arena = unsafe { &mut (*arena).arena };
    guarded(false, || arena.reset_and_release().is_ok())
}

/// A place to go back to; free it with `terrace_checkpoint_free`.
///
/// # Safety
/// As for `terrace_arena_alloc`; nobody else uses the arena meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_arena_checkpoint(arena: *mut terrace_arena) -> *mut terrace_checkpoint {
    // SAFETY: the caller's promise.
    let arena = unsafe { &mut (*arena).arena };
    guarded(ptr::null_mut(), || {
        Box::into_raw(Box::new(terrace_checkpoint { checkpoint: arena.checkpoint() }))
    })
}

/// Takes everything back that was handed out after the checkpoint.
///
/// # Safety
/// As for `terrace_arena_reset`, for what was handed out after it; the checkpoint is this arena's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_arena_reset_to(arena: *mut terrace_arena, to: *const terrace_checkpoint) {
    // SAFETY: the caller's promise.
    let (arena, to) = unsafe { (&mut (*arena).arena, &(*to).checkpoint) };
    guarded((), || arena.reset_to(*to));
}

/// Frees a checkpoint; the arena stays as it is. NULL does nothing.
///
/// # Safety
/// `checkpoint` is NULL or from `terrace_arena_checkpoint`, and not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_checkpoint_free(checkpoint: *mut terrace_checkpoint) {
    if !checkpoint.is_null() {
        // SAFETY: from `Box::into_raw`, given back once by the caller's promise.
        drop(unsafe { Box::from_raw(checkpoint) });
    }
}

/// What the arena could not have as it was asked for, and how it is used instead, each with its reason: smaller pages than those asked for, core
/// buffers without restartable sequences. At most `length` bytes with the final 0, unless `text` is NULL; how long the whole text is, 0 if there is
/// nothing to tell.
///
/// # Safety
/// As for `terrace_arena_alloc`; `text` is NULL or points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_arena_fallback(
    arena: *const terrace_arena,
    text: *mut c_char,
    length: usize,
) -> usize {
    // SAFETY: the caller's promise.
    let arena = unsafe { &(*arena).arena };
    let told = guarded(String::new(), || {
        let stats = arena.stats();
        let core = stats.core_buffers.starts_with("compare").then_some(stats.core_buffers);
        stats.fallback.into_iter().chain(core).collect::<Vec<_>>().join("; ")
    });
    // SAFETY: the caller's promise.
    unsafe { write_text(&told, text, length) };
    told.len()
}

/// What the arena holds.
///
/// # Safety
/// As for `terrace_arena_alloc`; `stats` points to a place for the answer, whose `size` says how large it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn terrace_arena_stats(arena: *const terrace_arena, stats: *mut terrace_stats) {
    // SAFETY: the caller's promise.
    let arena = unsafe { &(*arena).arena };
    let found = guarded(terrace_stats::default(), || {
        let stats = arena.stats();
        terrace_stats {
            size: size_of::<terrace_stats>(),
            reserved: stats.reserved_bytes,
            limit: stats.limit_bytes,
            used: stats.used_bytes,
            restartable: stats.core_buffers == "restartable sequences",
        }
    });
    // SAFETY: the caller's promise; the size is the first field in every version.
    unsafe {
        let bytes = (*stats).size.min(size_of::<terrace_stats>());
        let found = terrace_stats { size: bytes, ..found };
        stats.cast::<u8>().copy_from_nonoverlapping((&raw const found).cast::<u8>(), bytes);
    }
}

#[cfg(test)]
#[path = "layout_test.rs"]
mod layout_test;
