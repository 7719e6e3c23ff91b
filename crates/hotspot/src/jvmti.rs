//! The few functions of JVMTI and JNI that the agent calls, by their numbers in the tables that the specifications fix.

use crate::version::Supported;
use std::ffi::{c_char, c_int, c_void};

/// `JavaVM*` of jni.h: a pointer to its function table.
pub type JavaVm = *mut *const [*const c_void; 8];
/// `JNIEnv*` of jni.h: a pointer to its function table.
pub type JniEnv = *mut *const [*const c_void; 235];
/// `jvmtiEnv*` of jvmti.h: a pointer to its function table.
pub type JvmtiEnv = *mut *const [*const c_void; 156];

/// JVMTI 1.2, which all supported versions speak.
pub const VERSION: c_int = 0x3001_0200;
/// `JNI_OK`.
pub const OK: c_int = 0;
/// `JNI_ERR`.
pub const ERROR: c_int = -1;

// Places in the function tables, counted from 0. JVMTI's specification counts from 1.
const GET_ENV: usize = 6;
const SET_EVENT_NOTIFICATION_MODE: usize = 1;
const GET_PHASE: usize = 132;
const SET_EVENT_CALLBACKS: usize = 121;
const ADD_CAPABILITIES: usize = 141;
const DISPOSE_ENVIRONMENT: usize = 126;

/// Event numbers (`jvmtiEvent`).
const VM_INIT: c_int = 50;
const VM_DEATH: c_int = 51;
const GARBAGE_COLLECTION_START: c_int = 81;
const GARBAGE_COLLECTION_FINISH: c_int = 82;
const LAST_EVENT: c_int = 88;
/// Bit of `can_generate_garbage_collection_events` in `jvmtiCapabilities`.
const GARBAGE_COLLECTION_EVENTS: usize = 31;
/// `JVMTI_PHASE_LIVE`.
pub const PHASE_LIVE: c_int = 4;

/// `VMInit(jvmti, jni, thread)`.
pub type VmInit = unsafe extern "C" fn(JvmtiEnv, JniEnv, *mut c_void);
/// `VMDeath(jvmti, jni)`.
pub type VmDeath = unsafe extern "C" fn(JvmtiEnv, JniEnv);
/// `GarbageCollectionStart(jvmti)`: on the VM thread, at a safepoint, before the collection moves anything.
pub type GarbageCollectionStart = unsafe extern "C" fn(JvmtiEnv);

/// `GarbageCollectionFinish(jvmti)`: on the VM thread, still at the safepoint, after the collection.
pub type GarbageCollectionFinish = unsafe extern "C" fn(JvmtiEnv);

/// What the agent does when it is told of something.
#[derive(Clone, Copy, Debug)]
pub struct Callbacks {
    /// The JVM is initialised.
    pub vm_init: VmInit,
    /// The JVM is ending.
    pub vm_death: VmDeath,
    /// A collection begins.
    pub collection_start: GarbageCollectionStart,
    /// A collection ends.
    pub collection_finish: GarbageCollectionFinish,
}

/// What the agent can be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The JVM is initialised.
    VmInit,
    /// The JVM is ending.
    VmDeath,
    /// A collection begins.
    CollectionStart,
    /// A collection ends.
    CollectionFinish,
}

impl Event {
    const fn number(self) -> c_int {
        match self {
            Event::VmInit => VM_INIT,
            Event::VmDeath => VM_DEATH,
            Event::CollectionStart => GARBAGE_COLLECTION_START,
            Event::CollectionFinish => GARBAGE_COLLECTION_FINISH,
        }
    }
}

/// A JVMTI environment of this agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jvmti {
    env: JvmtiEnv,
}

// SAFETY: a JVMTI environment may be used from any thread.
unsafe impl Send for Jvmti {}

impl Jvmti {
    /// Gets an environment.
    ///
    /// # Safety
    /// `vm` must be the `JavaVM*` that HotSpot handed to the agent.
    pub unsafe fn of(vm: JavaVm) -> Result<Jvmti, String> {
        type GetEnv = unsafe extern "C" fn(JavaVm, *mut *mut c_void, c_int) -> c_int;
        let mut env: *mut c_void = std::ptr::null_mut();
        // SAFETY: jni.h fixes the place and type of GetEnv in the table that `vm` points to.
        let code = unsafe {
            let get_env = std::mem::transmute::<*const c_void, GetEnv>((**vm)[GET_ENV]);
            get_env(vm, &raw mut env, VERSION)
        };
        if code != OK || env.is_null() {
            return Err(format!(
                "JVMTI 1.2 is not available (GetEnv returned {code}): use a HotSpot JDK {Supported}"
            ));
        }
        Ok(Jvmti { env: env.cast() })
    }

    fn function(&self, place: usize) -> *const c_void {
        // SAFETY: `env` came from GetEnv and points to a table of 156 functions.
        unsafe { (**self.env)[place] }
    }

    /// Whether the JVM is past VMInit and not yet at VMDeath.
    pub fn is_live(&self) -> bool {
        type GetPhase = unsafe extern "C" fn(JvmtiEnv, *mut c_int) -> c_int;
        let mut phase = 0;
        // SAFETY: jvmti.h fixes place and type.
        let code = unsafe {
            std::mem::transmute::<*const c_void, GetPhase>(self.function(GET_PHASE))(self.env, &raw mut phase)
        };
        code == OK && phase == PHASE_LIVE
    }

    /// Says what is to be done on events, without asking for any yet.
    pub fn prepare(&self, callbacks: Callbacks) -> Result<(), String> {
        type AddCapabilities = unsafe extern "C" fn(JvmtiEnv, *const [u64; 2]) -> c_int;
        type SetEventCallbacks = unsafe extern "C" fn(JvmtiEnv, *const c_void, c_int) -> c_int;
        let capabilities = [1u64 << GARBAGE_COLLECTION_EVENTS, 0];
        let mut table = [std::ptr::null::<c_void>(); (LAST_EVENT - VM_INIT + 1) as usize];
        table[0] = callbacks.vm_init as *const c_void;
        table[(VM_DEATH - VM_INIT) as usize] = callbacks.vm_death as *const c_void;
        table[(GARBAGE_COLLECTION_START - VM_INIT) as usize] = callbacks.collection_start as *const c_void;
        table[(GARBAGE_COLLECTION_FINISH - VM_INIT) as usize] = callbacks.collection_finish as *const c_void;
        // SAFETY: jvmti.h fixes the places and types; HotSpot copies both structures.
        unsafe {
            let add = std::mem::transmute::<*const c_void, AddCapabilities>(self.function(ADD_CAPABILITIES));
            allowed(
                "the capability can_generate_garbage_collection_events",
                add(self.env, &raw const capabilities),
            )?;
            let set =
                std::mem::transmute::<*const c_void, SetEventCallbacks>(self.function(SET_EVENT_CALLBACKS));
            allowed("the event callbacks", set(self.env, table.as_ptr().cast(), size_of_val(&table) as c_int))
        }
    }

    /// Asks for an event from now on, or for no more of them.
    pub fn notify(&self, event: Event, wanted: bool) -> Result<(), String> {
        type SetEventNotificationMode =
            unsafe extern "C" fn(JvmtiEnv, c_int, c_int, *mut c_void, ...) -> c_int;
        // SAFETY: jvmti.h fixes place and type; no thread: all of them.
        let code = unsafe {
            let set = std::mem::transmute::<*const c_void, SetEventNotificationMode>(
                self.function(SET_EVENT_NOTIFICATION_MODE),
            );
            set(self.env, c_int::from(wanted), event.number(), std::ptr::null_mut())
        };
        allowed("an event", code)
    }

    /// Gives the environment up, with its events. It must not be used again.
    pub fn dispose(self) {
        type DisposeEnvironment = unsafe extern "C" fn(JvmtiEnv) -> c_int;
        // SAFETY: jvmti.h fixes place and type; the environment is this agent's own.
        unsafe {
            std::mem::transmute::<*const c_void, DisposeEnvironment>(self.function(DISPOSE_ENVIRONMENT))(
                self.env,
            );
        }
    }
}

fn allowed(what: &str, code: c_int) -> Result<(), String> {
    if code == OK { Ok(()) } else { Err(format!("JVMTI refused {what} (error {code}): load fewer agents")) }
}

/// A C string from HotSpot, or the empty string for null.
///
/// # Safety
/// `text` must be null or a NUL-terminated string that lives as long as the result is used.
pub unsafe fn option_text<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "";
    }
    // SAFETY: the caller's.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_str().unwrap_or("\u{fffd}")
}
