//! Exchanging one entry of a vtable.
//!
//! HotSpot's vtables lie in `.data.rel.ro`, which the dynamic loader makes read-only after relocation. The page is made writable,
//! one aligned word stored, the page made read-only again. The object's own vtable pointer is left alone: `jhsdb` knows the heap
//! by it.
#![allow(
    clippy::disallowed_types,
    reason = "the entry is read by every thread of the JVM while it is exchanged"
)]

use crate::{Error, WORD};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Stores `function` in the entry at `entry` if that still holds `expected`.
///
/// # Safety
/// `entry` must be an entry of a vtable of this process, and `function` have the type of the function that it replaces and live
/// as long as the process.
pub unsafe fn exchange(
    entry: usize,
    expected: usize,
    function: usize,
    what: &'static str,
) -> Result<(), Error> {
    debug_assert_eq!(entry % WORD, 0);
    // SAFETY: sysconf has no preconditions.
    let page = (unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize).max(4096);
    let start = entry / page * page;
    protect(start, page, libc::PROT_READ | libc::PROT_WRITE)?;
    // SAFETY: an aligned word (vtables are) in a page that is now writable and stays mapped; other threads read it whole.
    let word = unsafe { AtomicUsize::from_ptr(entry as *mut usize) };
    // Release: who calls through the entry sees what the hook needs, which was made before.
    let stored = word.compare_exchange(expected, function, Ordering::Release, Ordering::Relaxed);
    protect(start, page, libc::PROT_READ)?;
    stored.map(|_| ()).map_err(|_| Error::Taken { what })
}

fn protect(start: usize, bytes: usize, protection: i32) -> Result<(), Error> {
    // SAFETY: the page belongs to the library's relocated data, which is readable before, meanwhile and after.
    if unsafe { libc::mprotect(start as *mut libc::c_void, bytes, protection) } == 0 {
        return Ok(());
    }
    Err(Error::Protection { reason: std::io::Error::last_os_error().to_string() })
}
