//! What JVMTI tells the agent.

use crate::agent::agent_if_installed;
use crate::end;
use crate::install;
use crate::observer;
use crate::report;
use crate::state::{INTERNAL, control};
use control::State;
use hotspot::jvmti::{Callbacks, JniEnv, JvmtiEnv};
use std::ffi::c_void;
use std::panic::catch_unwind;

/// All of them.
pub(crate) fn callbacks() -> Callbacks {
    Callbacks { vm_init, vm_death, collection_start, collection_finish }
}

/// The heap exists and no application code has run: time to install.
unsafe extern "C" fn vm_init(_jvmti: JvmtiEnv, _jni: JniEnv, _thread: *mut c_void) {
    let strict = install::waits_strictly();
    let outcome = catch_unwind(install::finish)
        .unwrap_or_else(|_| Err(install::Unfinished { line: INTERNAL.into(), strict }));
    if let Err(unfinished) = outcome {
        install::refuse(&unfinished.line, unfinished.strict);
        if unfinished.strict {
            // The application has not begun. exit() would run HotSpot's own handlers, in the middle of its start.
            // SAFETY: _exit has no preconditions.
            unsafe { libc::_exit(1) };
        }
    }
}

/// A collection begins: on the VM thread, at a safepoint, before anything is moved or marked.
unsafe extern "C" fn collection_start(_jvmti: JvmtiEnv) {
    let agent = agent_if_installed();
    // First: who sees the pause counted finds when it began.
    observer::pause();
    if let Some(agent) = agent {
        agent.control.count_pause();
        agent.pause_begins();
        agent.retire_buffers();
        agent.withdraw_if_asked();
    }
}

/// A collection has ended, and eden has the size that it will have: on the VM thread, at the safepoint.
unsafe extern "C" fn collection_finish(_jvmti: JvmtiEnv) {
    observer::pause_ends();
    if let Some(agent) = agent_if_installed() {
        agent.pause_ends();
    }
}

/// The JVM is ending. From here on collections are not announced any more, while threads may still allocate for a moment and
/// collections may still run. Nothing is allocated here: the collectors' threads may have ended already, and an allocation that needs one of them
/// would wait for ever. It suffices to pass requests on: what the buffers hold by then is retired, if a collection or a heap walk comes
/// at all, by the hooks of `ensure_parsability` (Serial, Parallel, G1's full collections, every walk) and `trace_heap` (G1's young
/// pauses), and a refill under way publishes into a buffer that they find. Shenandoah's heap is stopped by then, and where it is not, since JDK
/// 26, by the hook of its pauses.
unsafe extern "C" fn vm_death(_jvmti: JvmtiEnv, _jni: JniEnv) {
    end::begins();
    if let Some(agent) = agent_if_installed() {
        end::stop(agent.control);
    } else if let Some(control) = control().filter(|control| control.state() == Some(State::Withdrawn)) {
        // In a hook, or at a collection, where its file could not be written.
        control.set_state(State::Withdrawn);
    }
    let _ = catch_unwind(report::write);
}
