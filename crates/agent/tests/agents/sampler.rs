//! A helper agent: samples allocations (JVMTI's SampledObjectAlloc) at the interval of bytes that its options say, and tells at the end
//! how many objects of the class `Sampled$Marked` were among them.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

type Env = *mut *const [*const c_void; 156];
type Vm = *mut *const [*const c_void; 8];

static ALL: AtomicU64 = AtomicU64::new(0);
static MARKED: AtomicU64 = AtomicU64::new(0);
static MARKED_BYTES: AtomicU64 = AtomicU64::new(0);

fn function(env: Env, number: usize) -> *const c_void {
    // SAFETY: a JVMTI environment points to its function table.
    unsafe { (**env)[number - 1] }
}

unsafe extern "C" fn sampled(
    env: Env,
    _jni: *mut c_void,
    _thread: *mut c_void,
    _object: *mut c_void,
    class: *mut c_void,
    bytes: i64,
) {
    type Signature = unsafe extern "C" fn(Env, *mut c_void, *mut *mut c_char, *mut *mut c_char) -> c_int;
    type Deallocate = unsafe extern "C" fn(Env, *mut c_char) -> c_int;
    ALL.fetch_add(1, Ordering::Relaxed);
    let mut name: *mut c_char = null_mut();
    // SAFETY: function 48 is GetClassSignature(env, class, &signature, &generic), 47 is Deallocate; the text is a C string.
    unsafe {
        let get = transmute::<*const c_void, Signature>(function(env, 48));
        if get(env, class, &raw mut name, null_mut()) == 0 {
            if CStr::from_ptr(name) == c"LSampled$Marked;" {
                MARKED.fetch_add(1, Ordering::Relaxed);
                MARKED_BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
            }
            transmute::<*const c_void, Deallocate>(function(env, 47))(env, name);
        }
    }
}

unsafe extern "C" fn vm_death(_env: Env, _jni: *mut c_void) {
    let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    eprintln!("sampled all={} marked={} marked_bytes={}", get(&ALL), get(&MARKED), get(&MARKED_BYTES));
}

/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnLoad(vm: Vm, options: *const c_char, _reserved: *mut c_void) -> c_int {
    type GetEnv = unsafe extern "C" fn(Vm, *mut *mut c_void, c_int) -> c_int;
    type Add = unsafe extern "C" fn(Env, *const [u64; 2]) -> c_int;
    type SetCallbacks = unsafe extern "C" fn(Env, *const c_void, c_int) -> c_int;
    type Enable = unsafe extern "C" fn(Env, c_int, c_int, *mut c_void, ...) -> c_int;
    type Interval = unsafe extern "C" fn(Env, c_int) -> c_int;
    let mut env: *mut c_void = null_mut();
    // SAFETY: jni.h and jvmti.h fix the places and types: GetEnv, AddCapabilities 142 (can_generate_sampled_object_alloc_events is bit
    // 43), SetHeapSamplingInterval 156, SetEventCallbacks 122 (VMInit, event 50, is the first; VMDeath is 51, SampledObjectAlloc 86),
    // SetEventNotificationMode 2. HotSpot passes a C string when there are options, and this agent is always given some.
    unsafe {
        let interval = CStr::from_ptr(options).to_str().unwrap_or("").parse().unwrap_or(-1);
        transmute::<*const c_void, GetEnv>((**vm)[6])(vm, &raw mut env, 0x3001_0200);
        let env: Env = env.cast();
        let mut failed = transmute::<*const c_void, Add>(function(env, 142))(env, &[1 << 43, 0]);
        failed |= transmute::<*const c_void, Interval>(function(env, 156))(env, interval);
        let mut callbacks = [std::ptr::null::<c_void>(); 37];
        callbacks[1] = vm_death as *const c_void;
        callbacks[36] = sampled as *const c_void;
        let bytes = size_of_val(&callbacks) as c_int;
        failed |= transmute::<*const c_void, SetCallbacks>(function(env, 122))(env, callbacks.as_ptr().cast(), bytes);
        for event in [51, 86] {
            failed |= transmute::<*const c_void, Enable>(function(env, 2))(env, 1, event, null_mut());
        }
        failed
    }
}
