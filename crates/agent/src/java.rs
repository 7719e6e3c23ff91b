//! What `terrace.jar` calls: the native methods of its class `terrace.Native`. Those of `terrace.jfr.SlowRefills` are in `refills/java.rs`.
//!
//! Texts come and go as `byte[]` in UTF-8, their fields separated by NUL, numbers as `long[]`; null is "nothing". No method throws, and none panics across the border.

use crate::agent::agent_if_installed;
use crate::entry::attempt;
use crate::install::{self, Unfinished};
use crate::log::{Severity, say};
use crate::report::{level_names_in, remaining, without_addresses};
use crate::state::{INTERNAL, When, control};
use control::{Control, Mode, State};
use hab::Counter;
use hotspot::jni::{Jni, Object};
use hotspot::jvmti::JniEnv;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

/// The version, and the names of the counters in their order.
///
/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_terrace_Native_describe(env: JniEnv, _class: Object) -> Object {
    // SAFETY: HotSpot's own argument.
    let jni = unsafe { Jni::of(env) };
    guarded(|| {
        let mut fields = vec![env!("CARGO_PKG_VERSION")];
        fields.extend(Counter::ALL.iter().map(|counter| counter.name()));
        jni.new_bytes(fields.join("\0").as_bytes())
    })
}

/// A refusal is said on standard error, not only given back.
const ALOUD: i32 = 1;
/// And with `strict=true` the program does not start.
const AT_START: i32 = 2;

/// Installs; the line of a refusal.
///
/// # Safety
/// Called by HotSpot only, on a Java thread.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_terrace_Native_install(
    env: JniEnv,
    _class: Object,
    options: Object,
    manner: i32,
) -> Object {
    // SAFETY: HotSpot's own argument.
    let jni = unsafe { Jni::of(env) };
    guarded(|| {
        // SAFETY: the method is declared with `byte[]`.
        let text = unsafe { jni.bytes(options) };
        let Some(vm) = jni.vm() else { return jni.new_bytes(INTERNAL.as_bytes()) };
        // SAFETY: HotSpot's own pointer.
        let outcome = unsafe { attempt(vm, &String::from_utf8_lossy(&text), When::Attach) };
        let Err(Unfinished { line, strict }) = outcome else { return null_mut() };
        if manner < ALOUD {
            install::record(&line);
        } else {
            let strict = strict && manner == AT_START;
            install::refuse(&line, strict);
            if strict {
                // As in `vm_init`: the application has not begun.
                // SAFETY: _exit has no preconditions.
                unsafe { libc::_exit(1) };
            }
        }
        jni.new_bytes(line.as_bytes())
    })
}

/// State, mode, message, settings (JSON) and the names of the levels that have counters; null if nothing was ever tried.
///
/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_terrace_Native_status(env: JniEnv, _class: Object) -> Object {
    // SAFETY: HotSpot's own argument.
    let jni = unsafe { Jni::of(env) };
    guarded(|| control().map_or(null_mut(), |control| jni.new_bytes(status(control).as_bytes())))
}

fn status(control: &Control) -> String {
    let settings = without_addresses(&control.settings());
    let state = control.state().map_or("unknown", State::name);
    let mode = match control.mode() {
        Mode::Off => "off",
        Mode::On => "on",
        Mode::Bound => "bound",
    };
    let message = control.message();
    let mut fields = vec![state, mode, &message, &settings];
    fields.extend(level_names(control, &settings));
    fields.join("\0")
}

fn level_names<'n>(control: &Control, settings: &str) -> impl Iterator<Item = &'n str> {
    let names = level_names_in(settings);
    (0..control.levels()).map(move |level| names.get(level).copied().unwrap_or("thread"))
}

/// Pauses, calls of `ensure_parsability`; then for each level the number of its domains, the bytes of a buffer, the bytes that its
/// buffers hold, and for each domain all counters. Null if nothing was ever tried.
///
/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_terrace_Native_counters(env: JniEnv, _class: Object) -> Object {
    // SAFETY: HotSpot's own argument.
    let jni = unsafe { Jni::of(env) };
    guarded(|| control().map_or(null_mut(), |control| jni.new_longs(&counted(control))))
}

fn counted(control: &Control) -> Vec<i64> {
    let remaining = agent_if_installed().map(remaining).unwrap_or_default();
    let mut numbers = vec![control.pauses(), control.parsability()];
    for level in 0..control.levels() {
        let domains = control.counters(level);
        numbers.push(domains.len() as u64);
        numbers.push(control.size(level));
        numbers.push(remaining.get(level).copied().unwrap_or(0) as u64);
        numbers.extend(domains.iter().flat_map(|domain| Counter::ALL.map(|counter| domain.get(counter))));
    }
    numbers.into_iter().map(|number| i64::try_from(number).unwrap_or(i64::MAX)).collect()
}

/// Switches the buffers on or off, as `terrace on` and `terrace off` do; whether there are any. Where there can be none, one line says so.
///
/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_terrace_Native_turn(_env: JniEnv, _class: Object, on: u8) -> u8 {
    let turned = catch_unwind(|| match control() {
        Some(control) if control.state() == Some(State::Installed) => {
            if on != 0 {
                control.ask_to_stay();
            }
            control.set_mode(if on != 0 { Mode::On } else { Mode::Off });
            1
        }
        Some(control) if on != 0 && install::are_of_only_observed(&control.settings()) => {
            say(Severity::Warn, &format!("there are no buffers to switch on: {}", control.message()));
            0
        }
        _ => 0,
    });
    turned.unwrap_or(0)
}

/// The number of the installation that the calling thread has made last; 0 if it has made none.
///
/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_terrace_Native_installation(_env: JniEnv, _class: Object) -> i64 {
    install::own().cast_signed()
}

/// Has the installation of this number withdraw if it is still there, and with 0 whichever there is: an observer at once, buffers with a collection that
/// finds them unused.
///
/// # Safety
/// Called by HotSpot only, on a Java thread.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_terrace_Native_withdraw(_env: JniEnv, _class: Object, number: i64) {
    let withdrawn = catch_unwind(|| install::withdraw_own(number.cast_unsigned()));
    if let Err(line) = withdrawn.unwrap_or_else(|_| Err(INTERNAL.into())) {
        say(Severity::Warn, &line);
    }
}

fn guarded(body: impl FnOnce() -> Object) -> Object {
    // A panic has been told of on standard error; what the closure refers to is not looked at again.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(null_mut())
}
