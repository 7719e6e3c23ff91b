//! A helper agent: a thread of its own walks the heap every few milliseconds and tags every object that it meets.

use std::ffi::{c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr::{null, null_mut};
use std::time::Duration;

type Env = *mut *const [*const c_void; 156];
type Vm = *mut *const [*const c_void; 8];
type Agent = unsafe extern "C" fn(Env, *mut c_void, *mut c_void);

/// `jvmtiHeapCallbacks`: of sixteen callbacks, `heap_iteration_callback` is the first.
#[repr(C)]
struct Callbacks([*const c_void; 16]);

unsafe extern "C" fn object(_class: i64, bytes: i64, tag: *mut i64, _length: c_int, total: *mut c_void) -> c_int {
    // SAFETY: HotSpot passes the object's tag, and the user data of the walk, which is a pair of numbers.
    unsafe {
        *tag = bytes;
        let total = &mut *total.cast::<(u64, u64)>();
        *total = (total.0 + 1, total.1 + bytes as u64);
    }
    0
}

fn function(env: Env, number: usize) -> *const c_void {
    // SAFETY: a JVMTI environment points to its function table.
    unsafe { (**env)[number - 1] }
}

unsafe extern "C" fn walk(env: Env, _jni: *mut c_void, _argument: *mut c_void) {
    let mut callbacks = Callbacks([null(); 16]);
    callbacks.0[0] = object as *const c_void;
    loop {
        let mut total = (0u64, 0u64);
        // SAFETY: function 116 is IterateThroughHeap(env, filter, class, callbacks, user data).
        let code = unsafe {
            type Iterate = unsafe extern "C" fn(Env, c_int, *mut c_void, *const Callbacks, *mut c_void) -> c_int;
            transmute::<*const c_void, Iterate>(function(env, 116))(
                env,
                0,
                null_mut(),
                &raw const callbacks,
                (&raw mut total).cast(),
            )
        };
        // The JVM is ending: wrong phase.
        if code != 0 {
            return;
        }
        eprintln!("tagged {} objects of {} bytes", total.0, total.1);
        std::thread::sleep(Duration::from_millis(30));
    }
}

unsafe extern "C" fn vm_init(env: Env, jni: *mut c_void, _thread: *mut c_void) {
    type Find = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
    type Alloc = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void;
    type Run = unsafe extern "C" fn(Env, *mut c_void, Agent, *const c_void, c_int) -> c_int;
    // SAFETY: JNI's functions 6 and 27 are FindClass and AllocObject; JVMTI's 12 is RunAgentThread. A Thread that is only allocated
    // needs its constructor: NewObject with "()V" through 33 (GetMethodID) and 28.
    unsafe {
        let table = &**jni.cast::<*const [*const c_void; 230]>();
        let class = transmute::<*const c_void, Find>(table[6])(jni, c"java/lang/Thread".as_ptr());
        type Method = unsafe extern "C" fn(*mut c_void, *mut c_void, *const c_char, *const c_char) -> *mut c_void;
        let constructor =
            transmute::<*const c_void, Method>(table[33])(jni, class, c"<init>".as_ptr(), c"()V".as_ptr());
        let thread = transmute::<*const c_void, Alloc>(table[27])(jni, class);
        type Call = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, ...);
        // 61: CallVoidMethod.
        transmute::<*const c_void, Call>(table[61])(jni, thread, constructor);
        transmute::<*const c_void, Run>(function(env, 12))(env, thread, walk, null(), 5);
    }
}

/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnLoad(vm: Vm, _options: *const c_char, _reserved: *mut c_void) -> c_int {
    type GetEnv = unsafe extern "C" fn(Vm, *mut *mut c_void, c_int) -> c_int;
    type Add = unsafe extern "C" fn(Env, *const [u64; 2]) -> c_int;
    type SetCallbacks = unsafe extern "C" fn(Env, *const c_void, c_int) -> c_int;
    type Enable = unsafe extern "C" fn(Env, c_int, c_int, *mut c_void, ...) -> c_int;
    let mut env: *mut c_void = null_mut();
    // SAFETY: jni.h and jvmti.h fix the places and types: GetEnv, AddCapabilities (can_tag_objects is the first),
    // SetEventCallbacks (VMInit is the first), SetEventNotificationMode.
    unsafe {
        transmute::<*const c_void, GetEnv>((**vm)[6])(vm, &raw mut env, 0x3001_0200);
        let env: Env = env.cast();
        transmute::<*const c_void, Add>(function(env, 142))(env, &[1, 0]);
        let callbacks = [vm_init as *const c_void];
        transmute::<*const c_void, SetCallbacks>(function(env, 122))(env, callbacks.as_ptr().cast(), 8);
        transmute::<*const c_void, Enable>(function(env, 2))(env, 1, 50, null_mut())
    }
}
