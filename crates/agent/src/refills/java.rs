//! What `terrace.jar` calls to record slow refills: the native methods of its class `terrace.jfr.SlowRefills`.

use super::{WORDS, lost, take, want};
use hotspot::jni::{Jni, Object};
use hotspot::jvmti::JniEnv;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

/// Records of one call.
const BATCH: usize = 1024;
/// Where a record has HotSpot's thread, and the system's.
const THREAD: usize = 4;
const OS_THREAD: usize = 5;

/// Records refills that take at least so many nanoseconds, or none if that is negative.
///
/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_terrace_jfr_SlowRefills_want(_env: JniEnv, _class: Object, nanos: i64) {
    // A panic has been told of on standard error.
    let _ = catch_unwind(|| want(u64::try_from(nanos).ok()));
}

/// How many were lost since the JVM's start, then the words of some that were recorded since the last call; without any when there are no
/// more. Null if the heap has no room.
///
/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_terrace_jfr_SlowRefills_take(env: JniEnv, _class: Object) -> Object {
    // SAFETY: HotSpot's own argument.
    let jni = unsafe { Jni::of(env) };
    catch_unwind(AssertUnwindSafe(|| jni.new_longs(&taken()))).unwrap_or(null_mut())
}

fn taken() -> Vec<i64> {
    let mut records = vec![[0; WORDS]; BATCH];
    let count = take(&mut records);
    records.truncate(count);
    forget_ended(&mut records);
    let words = records.iter().flatten().map(|word| *word as i64);
    std::iter::once(lost() as i64).chain(words).collect()
}

/// HotSpot's address of a thread that has ended may be another thread's by now.
fn forget_ended(records: &mut [[u64; WORDS]]) {
    let mut last = (0, false);
    for record in records {
        if record[OS_THREAD] != last.0 {
            last = (record[OS_THREAD], runs(record[OS_THREAD]));
        }
        if !last.1 {
            record[THREAD] = 0;
        }
    }
}

/// Whether this process has a thread of the system with that number.
fn runs(os_thread: u64) -> bool {
    // SAFETY: signal 0 only asks.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), os_thread as libc::pid_t, 0) == 0 }
}

/// HotSpot's address of a thread, 0 of one that does not run.
///
/// # Safety
/// Called by HotSpot only, with a `java.lang.Thread`.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_terrace_jfr_SlowRefills_address(
    env: JniEnv,
    _class: Object,
    thread: Object,
) -> i64 {
    // SAFETY: HotSpot's own argument.
    let jni = unsafe { Jni::of(env) };
    // SAFETY: the method is declared with a `Thread`.
    catch_unwind(AssertUnwindSafe(|| unsafe { jni.long_field(thread, c"eetop") })).unwrap_or(0)
}
