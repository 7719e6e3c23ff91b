//! A helper agent: stays in its VMDeath callback until the collector's log has so many pauses more than when it came there. Its
//! options are `PAUSES,LOG`. From JDK 26 on HotSpot announces no collection any more by then, also to agents whose callbacks come later.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

type Env = *mut *const [*const c_void; 156];
type Vm = *mut *const [*const c_void; 8];

static OPTIONS: OnceLock<String> = OnceLock::new();
/// Seconds after which the JVM ends without pauses, too; those of `LIMIT` in the environment, if it is there.
const LIMIT: u64 = 150;

fn limit() -> Duration {
    let given = std::env::var("LIMIT").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(given.unwrap_or(LIMIT))
}

fn pauses(log: &str) -> usize {
    let text = std::fs::read(log).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter(|line| line.contains("Pause")).count()
}

unsafe extern "C" fn vm_death(_env: Env, _jni: *mut c_void) {
    let options = OPTIONS.get().map_or("", String::as_str);
    let (more, log) = options.split_once(',').unwrap_or(("0", ""));
    let more = more.parse().unwrap_or(0);
    let (begin, before) = (Instant::now(), pauses(log));
    while pauses(log) < before + more && begin.elapsed() < limit() {
        std::thread::sleep(Duration::from_millis(5));
    }
    if pauses(log) >= before + more {
        println!("collected in VMDeath");
    }
}

fn function(env: Env, number: usize) -> *const c_void {
    // SAFETY: a JVMTI environment points to its function table.
    unsafe { (**env)[number - 1] }
}

/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnLoad(vm: Vm, options: *const c_char, _reserved: *mut c_void) -> c_int {
    type GetEnv = unsafe extern "C" fn(Vm, *mut *mut c_void, c_int) -> c_int;
    type SetCallbacks = unsafe extern "C" fn(Env, *const c_void, c_int) -> c_int;
    type Enable = unsafe extern "C" fn(Env, c_int, c_int, *mut c_void, ...) -> c_int;
    let mut env: *mut c_void = null_mut();
    // SAFETY: jni.h and jvmti.h fix the places and types: GetEnv, SetEventCallbacks (VMDeath is the second),
    // SetEventNotificationMode (51 is VMDeath). HotSpot passes a C string: this agent is always given options.
    unsafe {
        let _ = OPTIONS.set(CStr::from_ptr(options).to_str().unwrap_or("").to_owned());
        transmute::<*const c_void, GetEnv>((**vm)[6])(vm, &raw mut env, 0x3001_0200);
        let env: Env = env.cast();
        let callbacks = [null(), vm_death as *const c_void];
        transmute::<*const c_void, SetCallbacks>(function(env, 122))(env, callbacks.as_ptr().cast(), 16);
        transmute::<*const c_void, Enable>(function(env, 2))(env, 1, 51, null_mut())
    }
}
