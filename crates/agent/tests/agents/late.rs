//! A helper agent: stays in `Agent_OnUnload`, which HotSpot calls after VMDeath. Its options are `MILLIS`, or `MILLIS,PAUSES,LOG`: it
//! stays for so many milliseconds at least, and until the collector's log has so many pauses more than when it came there.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

static OPTIONS: OnceLock<String> = OnceLock::new();
/// Seconds after which the JVM ends without pauses, too; those of `LIMIT` in the environment, if it is there.
const LIMIT: u64 = 150;

fn limit() -> Duration {
    let given = std::env::var("LIMIT").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(given.unwrap_or(LIMIT))
}

/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnLoad(_vm: *mut c_void, options: *const c_char, _reserved: *mut c_void) -> c_int {
    // SAFETY: HotSpot passes a C string when there are options, and this agent is always given some.
    let text = unsafe { CStr::from_ptr(options) };
    let _ = OPTIONS.set(text.to_str().unwrap_or("").to_owned());
    0
}

fn pauses(log: &str) -> usize {
    let text = std::fs::read(log).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter(|line| line.contains("Pause")).count()
}

/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnUnload(_vm: *mut c_void) {
    let options = OPTIONS.get().map_or("", String::as_str);
    let mut options = options.split(',');
    let mut number = || options.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let (millis, more) = (Duration::from_millis(number() as u64), number());
    let log = options.next().unwrap_or("");
    let (begin, before) = (Instant::now(), pauses(log));
    while begin.elapsed() < millis || (pauses(log) < before + more && begin.elapsed() < limit()) {
        std::thread::sleep(Duration::from_millis(5));
    }
}
