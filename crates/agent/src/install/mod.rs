//! From options to hooks in place, or to a reason why not.
//!
//! Installation is *plan, then commit*: everything that can fail comes before anything that shows in the JVM.
//!
//! | step | when | what it does |
//! |---|---|---|
//! | [`plan::Plan`] | before the heap exists (on attach: at once) | reads options, CPUs, libjvm.so, flags; refuses; changes nothing |
//! | [`plan::Plan::commit`] | then | sets the flags that the heap's construction reads; cannot fail |
//! | [`live::Live`] | at VMInit (on attach: at once) | builds the levels over the live heap, makes the vtable writable; changes nothing else |
//! | [`live::Live::commit`] | then | puts the hooks in place; cannot fail |
//!
//! What is refused leaves the JVM as it would be without the agent, and may be tried again.
#![allow(clippy::disallowed_types, reason = "a library may be loaded from two threads at once")]

mod live;
mod plan;
mod settings;

pub(crate) use settings::are_of_only_observed;

use crate::in_place::InPlace;
use crate::log::{Severity, say};
use crate::options::Options;
use crate::report;
use crate::state::{When, control};
use control::State;
use hotspot::heap::Jvm;
use hotspot::jvmti::{Callbacks, Event, Jvmti};
use live::Live;
use plan::Plan;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by who installs or withdraws: one at a time, from the first check to the last change. Never on the VM thread, for which its holder may wait.
static CHANGING: Mutex<()> = Mutex::new(());
/// Whether an installation is under way or done: there is one for each process.
static LOADED: AtomicBool = AtomicBool::new(false);
/// What waits for VMInit.
static WAITING: Mutex<Option<(Plan, Jvmti)>> = Mutex::new(None);
/// The installation, which may be followed by another.
static EARLIER: Mutex<Option<Earlier>> = Mutex::new(None);

/// What is in place and may be taken back.
struct Earlier {
    /// Tells of the JVM's end, and of collections.
    jvmti: Jvmti,
    in_place: &'static InPlace,
    /// What was installed.
    plan: Plan,
}

impl Earlier {
    /// Whether there are no buffers: it goes at any time. Buffers go when a collection finds them unused.
    fn observes(&self) -> bool {
        self.plan.options.observes()
    }

    /// An end without a trace.
    fn end(self) {
        self.plan.revert();
        self.jvmti.dispose();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs, or gives the reason why not. At the JVM's start the rest comes with [`finish`].
///
/// `callbacks`: what JVMTI is to call.
pub(crate) fn begin(
    environment: Environment<'_>,
    options: Options,
    when: When,
    callbacks: Callbacks,
) -> Result<(), String> {
    let _changing = lock(&CHANGING);
    if options.withdraw {
        return take_back();
    }
    let gave_way = if LOADED.swap(true, Ordering::AcqRel) { make_room(&options, when)? } else { None };
    // The end of the JVM is of no more interest to it.
    if let Some(earlier) = lock(&EARLIER).take() {
        earlier.end();
    }
    let mut jvmti = None;
    let outcome = match when {
        When::Load => at_start(environment, options, callbacks),
        When::Attach => in_running(environment, &mut jvmti, options, callbacks),
    };
    if outcome.is_err() {
        give_up(jvmti);
        if let Some(observer) = gave_way {
            come_back(environment, observer, callbacks);
        }
    }
    outcome
}

/// Puts the observer there again that has made room for nothing. What it counted is in its report; it counts from 0.
#[cold]
fn come_back(environment: Environment<'_>, observer: Options, callbacks: Callbacks) {
    LOADED.store(true, Ordering::Release);
    let mut jvmti = None;
    if in_running(environment, &mut jvmti, observer, callbacks).is_err() {
        // The reason why the other was refused is told already.
        give_up(jvmti);
    }
}

/// Gets a JVMTI environment: an own one.
type Environment<'a> = &'a dyn Fn() -> Result<Jvmti, String>;

/// An observer gives way to buffers, where there can be any, and what has withdrawn to anything. Gives the observer's options.
fn make_room(options: &Options, when: When) -> Result<Option<Options>, String> {
    let earlier = lock(&EARLIER);
    let loaded = "libterrace.so is already loaded: specify it once, or change it through its control file";
    let earlier = earlier.as_ref().ok_or(loaded)?;
    let observes = !earlier.in_place.is_back();
    if observes {
        match earlier.plan.jvm.collector.buffers() {
            Err(refusal) if options.insists_on_buffers() => return Err(refusal.to_string()),
            Ok(()) if earlier.observes() && !options.observes() => {}
            _ => return Err(loaded.into()),
        }
        // Not to what is refused afterwards: the JVM would be left with neither.
        earlier.plan.check(options, when)?;
    }
    earlier.in_place.take_back()?;
    report::write();
    Ok(observes.then(|| earlier.plan.options.clone()))
}

/// Ends the observer, on a thread that is not in HotSpot; of buffers that have gone what is left.
pub(crate) fn withdraw() -> Result<(), String> {
    let _changing = lock(&CHANGING);
    take_back()
}

fn take_back() -> Result<(), String> {
    let mut earlier = lock(&EARLIER);
    let goes = earlier.as_ref().filter(|earlier| earlier.observes() || earlier.in_place.is_back());
    let goes = goes.ok_or("no observer to withdraw: 'terrace off PID' switches buffers off")?;
    goes.in_place.take_back()?;
    report::write();
    if let Some(earlier) = earlier.take() {
        earlier.end();
    }
    LOADED.store(false, Ordering::Release);
    Ok(())
}

/// Gets an environment at the JVM's start, or gives one back, without that virtual threads and compilers pay for it.
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

/// The first half, before the heap exists.
fn at_start(environment: Environment<'_>, options: Options, callbacks: Callbacks) -> Result<(), String> {
    let plan = Plan::make(options, When::Load)?;
    let jvmti = unnoticed(&plan.jvm, || {
        let jvmti = environment()?;
        let prepared = jvmti.prepare(callbacks).and_then(|()| jvmti.notify(Event::VmInit, true));
        prepared.map(|()| jvmti).inspect_err(|_| jvmti.dispose())
    })?;
    plan.commit();
    *lock(&WAITING) = Some((plan, jvmti));
    Ok(())
}

/// Both halves at once. Virtual threads may be under way, and what JVMTI is told of them from its first environment on stays: it is got
/// when nothing else can be refused.
fn in_running(
    environment: Environment<'_>,
    made: &mut Option<Jvmti>,
    options: Options,
    callbacks: Callbacks,
) -> Result<(), String> {
    let plan = Plan::make(options, When::Attach)?;
    let live = Live::make(&plan)?;
    let jvmti = *made.insert(environment()?);
    if !jvmti.is_live() {
        return Err("the JVM is still starting or already ending: attach to a running JVM".into());
    }
    jvmti.prepare(callbacks)?;
    // On attach the flags are the last to be set: nothing may show of an attempt that is refused.
    let in_place = install(live, &plan, jvmti)?;
    plan.commit();
    *lock(&EARLIER) = Some(Earlier { jvmti, in_place, plan });
    Ok(())
}

/// The second half, at VMInit, where nobody can be told of an error but through the log.
pub(crate) fn finish() -> Result<(), Unfinished> {
    let _changing = lock(&CHANGING);
    let Some((plan, jvmti)) = lock(&WAITING).take() else { return Ok(()) };
    match Live::make(&plan).and_then(|live| install(live, &plan, jvmti)) {
        Ok(in_place) => {
            *lock(&EARLIER) = Some(Earlier { jvmti, in_place, plan });
            Ok(())
        }
        Err(line) => {
            plan.revert();
            give_up(Some(jvmti));
            Err(Unfinished { line, strict: plan.options.strict })
        }
    }
}

/// Why an installation failed.
pub(crate) struct Unfinished {
    pub(crate) line: String,
    pub(crate) strict: bool,
}

/// Whether an installation waits for VMInit.
fn waits() -> bool {
    lock(&WAITING).is_some()
}

/// Whether `strict=true` was asked for by what waits for VMInit.
pub(crate) fn waits_strictly() -> bool {
    lock(&WAITING).as_ref().is_some_and(|(plan, _)| plan.options.strict)
}

/// Gives what can be taken back.
fn install(live: Live, plan: &Plan, jvmti: Jvmti) -> Result<&'static InPlace, String> {
    // Before the hooks: no extent may be in a buffer when a collection comes that is not announced. Told of them without hooks, the
    // callbacks find no agent and do nothing.
    for event in [Event::VmDeath, Event::CollectionStart, Event::CollectionFinish] {
        jvmti.notify(event, true)?;
    }
    live.commit(plan)
}

/// Leaves the JVM as it was.
fn give_up(jvmti: Option<Jvmti>) {
    if let Some(jvmti) = jvmti {
        jvmti.dispose();
    }
    LOADED.store(false, Ordering::Release);
}

/// Records a refusal for `terrace status`, and says it.
pub(crate) fn refuse(line: &str, strict: bool) {
    record(line);
    let consequence = match control().and_then(|control| control.state()) {
        _ if strict => "strict=true: not starting",
        Some(State::Installed | State::Observing) => "the installed agent stays",
        _ if waits() => "the first one stays",
        _ => "running without buffers",
    };
    say(Severity::Error, &format!("{line} ({consequence})"));
}

/// Records a refusal of which somebody else is told. A second attempt that is refused leaves alone what an earlier one has begun, or begins
/// at the same time on another thread.
pub(crate) fn record(line: &str) {
    let _changing = lock(&CHANGING);
    if let Some(control) = control()
        && control.state() == Some(State::Starting)
        && !waits()
    {
        control.set_message(line);
        control.set_state(State::Refused);
        // There will be nothing more to report, and nobody to be told of the JVM's end.
        let _ = catch_unwind(report::write);
    }
}

/// Where the report goes, if the installation gets as far as having counters.
fn remember(options: &Options) {
    report::set_path(options.report.clone());
}
