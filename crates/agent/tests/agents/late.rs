//! A helper agent: stays in `Agent_OnUnload`, which HotSpot calls after VMDeath, for as many milliseconds as its options say.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

static MILLIS: AtomicU64 = AtomicU64::new(0);

/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnLoad(_vm: *mut c_void, options: *const c_char, _reserved: *mut c_void) -> c_int {
    // SAFETY: HotSpot passes a C string when there are options, and this agent is always given some.
    let text = unsafe { CStr::from_ptr(options) };
    MILLIS.store(text.to_str().unwrap_or("").parse().unwrap_or(0), Ordering::Relaxed);
    0
}

/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnUnload(_vm: *mut c_void) {
    std::thread::sleep(Duration::from_millis(MILLIS.load(Ordering::Relaxed)));
}
