//! The JVMTI environment by which an installation is told of the JVM's beginning and end, and of collections.
//!
//! That of the JVM's start is kept as long as the JVM, its events switched off while nobody uses it. Giving it up, HotSpot would prepare for tools again
//! (`hotspot::tooling`), and other threads run by then; a new one would have it tell of virtual threads (`hotspot::transitions`).
#![allow(clippy::disallowed_types, reason = "a library may be loaded from two threads at once")]

use super::lock;
use hotspot::heap::Jvm;
use hotspot::jvmti::{Callbacks, Event, Jvmti};
use std::sync::Mutex;

/// Gets a JVMTI environment: an own one.
pub(crate) type Environment<'a> = &'a dyn Fn() -> Result<Jvmti, String>;

/// That of the JVM's start.
static OF_START: Mutex<Option<Jvmti>> = Mutex::new(None);

/// Gets one at the JVM's start, which is told of VMInit.
pub(super) fn at_start(
    environment: Environment<'_>,
    jvm: &Jvm,
    callbacks: Callbacks,
) -> Result<Jvmti, String> {
    let jvmti = unnoticed(jvm, || {
        let jvmti = environment()?;
        let prepared = jvmti.prepare(callbacks).and_then(|()| jvmti.notify(Event::VmInit, true));
        prepared.map(|()| jvmti).inspect_err(|_| jvmti.dispose())
    })?;
    *lock(&OF_START) = Some(jvmti);
    Ok(jvmti)
}

/// Gets one at the JVM's start, or gives one back, without that virtual threads and compilers pay for it.
fn unnoticed<T>(jvm: &Jvm, act: impl FnOnce() -> T) -> T {
    let (transitions, tooling) = (jvm.transitions.look(), jvm.tooling.look());
    let done = act();
    // SAFETY: in Agent_OnLoad one thread runs, and what is asked of this environment are the JVM's beginning and end, and collections.
    unsafe {
        jvm.transitions.put_back(transitions);
        jvm.tooling.put_back(tooling);
    }
    done
}

/// Gets one in a running JVM. A new one shows: virtual threads may be under way, and what HotSpot does for it stays.
pub(super) fn in_running(environment: Environment<'_>, callbacks: Callbacks) -> Result<Jvmti, String> {
    let kept = *lock(&OF_START);
    let jvmti = kept.map_or_else(environment, Ok)?;
    let ready = match jvmti.is_live() {
        false => Err("the JVM is still starting or already ending: attach to a running JVM".into()),
        true if kept.is_some() => Ok(()),
        true => jvmti.prepare(callbacks),
    };
    ready.map(|()| jvmti).inspect_err(|_| give_back(jvmti))
}

/// Has an installation be told of nothing any more.
pub(super) fn give_back(jvmti: Jvmti) {
    if *lock(&OF_START) != Some(jvmti) {
        jvmti.dispose();
        return;
    }
    for event in [Event::VmInit, Event::VmDeath, Event::CollectionStart, Event::CollectionFinish] {
        // Still told of one, it would find no agent.
        let _ = jvmti.notify(event, false);
    }
}
