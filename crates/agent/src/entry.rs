//! What HotSpot calls.

use crate::events;
use crate::install::{self, Unfinished};
use crate::options::Options;
use crate::state::{INTERNAL, When};
use hotspot::jvmti::{self, JavaVm};
use std::ffi::{c_char, c_int, c_void};
use std::panic::catch_unwind;

/// At the JVM's start, before the heap exists (`-agentpath`, `-agentlib`).
///
/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnLoad(vm: JavaVm, options: *const c_char, _reserved: *mut c_void) -> c_int {
    // SAFETY: HotSpot's own arguments.
    unsafe { start(vm, options, When::Load) }
}

/// In a running JVM (`jcmd PID JVMTI.agent_load`).
///
/// # Safety
/// Called by HotSpot only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnAttach(vm: JavaVm, options: *const c_char, _reserved: *mut c_void) -> c_int {
    // SAFETY: HotSpot's own arguments.
    unsafe { start(vm, options, When::Attach) }
}

/// # Safety
/// `vm` and `text` must be what HotSpot passed.
unsafe fn start(vm: JavaVm, text: *const c_char, when: When) -> c_int {
    // SAFETY: HotSpot passes null or a C string.
    let text = unsafe { jvmti::option_text(text) };
    // SAFETY: HotSpot's own pointer.
    match unsafe { attempt(vm, text, when) } {
        Ok(()) => jvmti::OK,
        Err(Unfinished { line, strict }) => {
            // In a running JVM nothing is ended by a refusal.
            install::refuse(&line, strict && when == When::Load);
            // On attach an error code is an answer to who attached, and no harm to the application.
            if strict || when == When::Attach { jvmti::ERROR } else { jvmti::OK }
        }
    }
}

/// Installs what the text asks for.
///
/// # Safety
/// `vm` must be HotSpot's.
pub(crate) unsafe fn attempt(vm: JavaVm, text: &str, when: When) -> Result<(), Unfinished> {
    let (options, parsed) = Options::parse(text);
    let strict = options.strict;
    let outcome = catch_unwind(|| {
        parsed?;
        // SAFETY: the caller's.
        let environment = || unsafe { jvmti::Jvmti::of(vm) };
        install::begin(&environment, options, when, events::callbacks())
    });
    outcome.unwrap_or_else(|_| Err(INTERNAL.into())).map_err(|line| Unfinished { line, strict })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Severity, put_back, set_level};
    use std::ptr::null_mut;

    #[test]
    fn what_is_refused_leaves_the_log_as_it_is() {
        let before = set_level(Severity::Error);
        let said = set_level(Severity::Error);
        for text in ["core=1,log=debug", "log=debug", "log=debug,withdraw=true"] {
            // SAFETY: without a `libjvm.so` in this process it is refused before anybody looks at the JVM.
            let outcome = unsafe { attempt(null_mut(), text, When::Attach) };
            assert!(outcome.is_err(), "{text}");
            assert_eq!(set_level(Severity::Error), said, "{text}");
        }
        put_back(before);
    }
}
