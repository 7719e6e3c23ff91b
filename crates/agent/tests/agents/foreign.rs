//! Native methods of `Foreign.java`: threads that the JVM did not start, and calls from native code back into Java.

use std::ffi::{c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr::{null, null_mut};

type Jni = *mut *const [*const c_void; 230];
type Vm = *mut *const [*const c_void; 8];
type Object = *mut c_void;

fn function(env: Jni, number: usize) -> *const c_void {
    // SAFETY: a JNI environment points to its function table.
    unsafe { (**env)[number] }
}

/// Makes `objects` arrays of bytes of many sizes through JNI, keeps all of them until the last one is made, and counts those that
/// have what was written to them. Negative if one was not empty when it came, or there was no memory.
///
/// # Safety
/// `env` is the environment of this thread, which is attached.
unsafe fn make_and_check(env: Jni, seed: usize, objects: c_int) -> i64 {
    type Frame = unsafe extern "C" fn(Jni, c_int) -> c_int;
    type Pop = unsafe extern "C" fn(Jni, Object) -> Object;
    type New = unsafe extern "C" fn(Jni, c_int) -> Object;
    type Region = unsafe extern "C" fn(Jni, Object, c_int, c_int, *mut i8);
    // SAFETY: jni.h fixes the places and types: PushLocalFrame 19, PopLocalFrame 20, NewByteArray 176, GetByteArrayRegion 200,
    // SetByteArrayRegion 208; references are used on this thread, inside the frame.
    unsafe {
        let new = transmute::<*const c_void, New>(function(env, 176));
        let get = transmute::<*const c_void, Region>(function(env, 200));
        let set = transmute::<*const c_void, Region>(function(env, 208));
        if transmute::<*const c_void, Frame>(function(env, 19))(env, objects) != 0 {
            return -1;
        }
        let byte = |number: usize, at: usize| (seed.wrapping_mul(31) + number * 7 + at) as i8;
        let mut made: Vec<(Object, usize)> = Vec::new();
        for number in 0..objects as usize {
            let bytes = 1 + (seed * 37 + number * 101) % if number % 10 == 9 { 20_000 } else { 700 };
            let array = new(env, bytes as c_int);
            if array.is_null() {
                return -2;
            }
            let mut text = vec![1i8; bytes];
            get(env, array, 0, bytes as c_int, text.as_mut_ptr());
            if text.iter().any(|byte| *byte != 0) {
                return -3;
            }
            (0..bytes).for_each(|at| text[at] = byte(number, at));
            set(env, array, 0, bytes as c_int, text.as_mut_ptr());
            made.push((array, bytes));
        }
        let mut checked = 0;
        for (number, (array, bytes)) in made.into_iter().enumerate() {
            let mut text = vec![0i8; bytes];
            get(env, array, 0, bytes as c_int, text.as_mut_ptr());
            if (0..bytes).any(|at| text[at] != byte(number, at)) {
                return -4;
            }
            checked += 1;
        }
        transmute::<*const c_void, Pop>(function(env, 20))(env, null_mut());
        checked
    }
}

/// # Safety
/// `vm` is the JVM; this thread is not attached to it.
unsafe fn attach_and_detach(vm: Vm, seed: usize, objects: c_int) -> i64 {
    type Attach = unsafe extern "C" fn(Vm, *mut Jni, *mut c_void) -> c_int;
    type Detach = unsafe extern "C" fn(Vm) -> c_int;
    let mut env: Jni = null_mut();
    // SAFETY: AttachCurrentThread is function 4 of the JVM's table, DetachCurrentThread 5.
    unsafe {
        if transmute::<*const c_void, Attach>((**vm)[4])(vm, &raw mut env, null_mut()) != 0 {
            return -5;
        }
        let checked = make_and_check(env, seed, objects);
        if transmute::<*const c_void, Detach>((**vm)[5])(vm) != 0 { -6 } else { checked }
    }
}

/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Java_Foreign_attach(
    env: Jni,
    _class: Object,
    threads: c_int,
    times: c_int,
    objects: c_int,
) -> i64 {
    type GetVm = unsafe extern "C" fn(Jni, *mut Vm) -> c_int;
    let mut vm: Vm = null_mut();
    // SAFETY: GetJavaVM is function 219.
    unsafe { transmute::<*const c_void, GetVm>(function(env, 219))(env, &raw mut vm) };
    // The JVM outlives these threads: they are joined here.
    let vm = vm.addr();
    let started: Vec<_> = (0..threads as usize)
        .map(|thread| {
            std::thread::spawn(move || {
                let mut checked = 0;
                for time in 0..times as usize {
                    // SAFETY: the JVM's address, from above; this thread is its own.
                    match unsafe { attach_and_detach(vm as Vm, thread * 1000 + time, objects) } {
                        failure if failure < 0 => return failure,
                        count => checked += count,
                    }
                }
                checked
            })
        })
        .collect();
    let counts: Vec<i64> = started.into_iter().map(|thread| thread.join().unwrap_or(-7)).collect();
    counts.iter().copied().find(|count| *count < 0).unwrap_or(counts.iter().sum())
}

/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Java_Foreign_call(env: Jni, _class: Object, work: Object) {
    type Class = unsafe extern "C" fn(Jni, Object) -> Object;
    type Method = unsafe extern "C" fn(Jni, Object, *const c_char, *const c_char) -> *const c_void;
    type Call = unsafe extern "C" fn(Jni, Object, *const c_void, *const c_void);
    // SAFETY: GetObjectClass 31, GetMethodID 33, CallVoidMethodA 63, with a Runnable and its method without arguments.
    unsafe {
        let class = transmute::<*const c_void, Class>(function(env, 31))(env, work);
        let run = transmute::<*const c_void, Method>(function(env, 33))(env, class, c"run".as_ptr(), c"()V".as_ptr());
        transmute::<*const c_void, Call>(function(env, 63))(env, work, run, null());
    }
}
