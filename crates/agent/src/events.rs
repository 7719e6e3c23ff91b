//! What JVMTI tells the agent.

use crate::agent::agent_if_installed;
use crate::install;
use crate::report;
use control::{Mode, State};
use hotspot::jvmti::{self, JniEnv, JvmtiEnv};
use std::ffi::{c_int, c_void};
use std::panic::catch_unwind;

/// The heap exists and no application code has run: time to install.
pub(crate) unsafe extern "C" fn vm_init(_jvmti: JvmtiEnv, _jni: JniEnv, _thread: *mut c_void) {
    let _ = catch_unwind(install::finish);
}

/// A collection begins: on the VM thread, at a safepoint, before anything is moved or marked.
pub(crate) unsafe extern "C" fn collection_start(_jvmti: JvmtiEnv) {
    if let Some(agent) = agent_if_installed() {
        agent.control.count_pause();
        agent.retire_buffers();
        agent.follow_eden();
    }
}

/// Bytes of the arrays that lead into the hooks at VMDeath: small enough to be of no account.
const PROBE_BYTES: c_int = 16 << 10;
/// As many as fill the rest of any TLAB.
const PROBES: usize = 4096;

/// The JVM is ending. From here on collections are not announced any more, while threads may still allocate for a moment: the
/// buffers are emptied for good. This thread is in native state, where no filler may be written; an allocation of its own leads
/// into the hooks, which do it.
pub(crate) unsafe extern "C" fn vm_death(_jvmti: JvmtiEnv, jni: JniEnv) {
    if let Some(agent) = agent_if_installed() {
        let was_on = agent.control.mode() != Mode::Off;
        agent.begin_closing();
        agent.control.set_mode(Mode::Off);
        for _ in 0..if was_on { PROBES } else { 0 } {
            if agent.is_closed() {
                break;
            }
            // SAFETY: JNI may be used in VMDeath, which is still in the live phase.
            unsafe { jvmti::allocate_and_forget(jni, PROBE_BYTES) };
        }
        agent.control.set_state(State::Ended);
    }
    let _ = catch_unwind(report::write_at_exit);
}
