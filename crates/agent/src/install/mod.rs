//! From options to hooks in place, or to a reason why not.
//!
//! Installation is *plan, then commit*: everything that can fail comes before anything that shows in the JVM.
//!
//! | step | when | what it does |
//! |---|---|---|
//! | [`ground::Ground`] | before the heap exists (on attach: at once) | reads the CPUs, makes the control memory; refuses; changes nothing |
//! | [`plan::Plan`] | then | reads options, libjvm.so, flags; refuses; changes nothing |
//! | [`plan::Plan::commit`] | then | sets the flags that the heap's construction reads; cannot fail |
//! | [`live::Live`] | at VMInit (on attach: at once) | builds the levels over the live heap, makes the vtable writable; changes nothing else |
//! | [`live::Live::commit`] | then | puts the hooks in place; all of them, or none if another agent changes the same entries at this moment |
//!
//! What is refused leaves the JVM as it would be without the agent, and may be tried again.
#![allow(clippy::disallowed_types, reason = "a library may be loaded from two threads at once")]

mod environment;
mod ground;
mod live;
mod plan;
mod settings;

pub(crate) use settings::are_of_only_observed;

use crate::in_place::InPlace;
use crate::log::{self, Severity, say};
use crate::options::Options;
use crate::report;
use crate::state::{When, control};
use control::{Mode, State};
use environment::{Environment, give_back};
use ground::Ground;
use hotspot::jvmti::{Callbacks, Event, Jvmti};
use live::Live;
use plan::Plan;
use std::cell::Cell;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by who installs or withdraws: one at a time, from the first check to the last change. Never on the VM thread, for which its holder may wait.
static CHANGING: Mutex<()> = Mutex::new(());
/// Whether an installation is under way or done: there is one for each process.
static LOADED: AtomicBool = AtomicBool::new(false);
/// What waits for VMInit.
static WAITING: Mutex<Option<(Plan, Jvmti)>> = Mutex::new(None);
/// The installation, which may be followed by another.
static EARLIER: Mutex<Option<Earlier>> = Mutex::new(None);

/// How many installations there were.
static INSTALLATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The last one that this thread has made.
    static OWN: Cell<u64> = const { Cell::new(0) };
}

/// What is in place and may be taken back.
struct Earlier {
    /// Which one it is, from 1: those of a process that follow each other differ.
    number: u64,
    /// Tells of the JVM's end, and of collections.
    jvmti: Jvmti,
    in_place: &'static InPlace,
    /// What was installed.
    plan: Plan,
}

impl Earlier {
    /// A new one, made by this thread.
    fn new(jvmti: Jvmti, in_place: &'static InPlace, plan: Plan) -> Earlier {
        // Relaxed: a number that nobody else has.
        let number = INSTALLATIONS.fetch_add(1, Ordering::Relaxed) + 1;
        OWN.set(number);
        Earlier { number, jvmti, in_place, plan }
    }

    /// Whether there are no buffers: it goes at any time. Buffers go when a collection finds them unused.
    fn observes(&self) -> bool {
        self.plan.options.observes()
    }

    /// Leaves the JVM to another, and can come back: it is told of the JVM's end, and of no collection.
    fn step_aside(&self) -> Result<(), String> {
        self.in_place.step_aside()?;
        self.plan.revert();
        for event in [Event::CollectionStart, Event::CollectionFinish] {
            // Still told of them, it would find no agent.
            let _ = self.jvmti.notify(event, false);
        }
        Ok(())
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
    let level = log::set_level(options.log);
    // What is there goes on to say what it said.
    let quiet = move |_: &String| log::put_back(level);
    put_in_place(environment, options, when, callbacks).inspect_err(quiet)
}

fn put_in_place(
    environment: Environment<'_>,
    options: Options,
    when: When,
    callbacks: Callbacks,
) -> Result<(), String> {
    if LOADED.swap(true, Ordering::AcqRel)
        && let Some((observer, ground)) = make_room(&options, when)?
    {
        return replace(environment, observer, ground, options, callbacks);
    }
    let outcome = Ground::make(&options).and_then(|ground| match when {
        When::Load => at_start(environment, options, ground, callbacks),
        When::Attach => in_running(environment, options, ground, callbacks).map(is_there),
    });
    if outcome.is_err() {
        LOADED.store(false, Ordering::Release);
    }
    outcome
}

fn is_there(installed: Earlier) {
    *lock(&EARLIER) = Some(installed);
}

/// An observer gives way to buffers, where there can be any, and what has withdrawn to anything. Gives the observer, and what the buffers may stand on.
fn make_room(options: &Options, when: When) -> Result<Option<(Earlier, Ground)>, String> {
    let mut place = lock(&EARLIER);
    let loaded = "libterrace.so is already loaded: specify it once, or change it through its control file";
    let earlier = place.as_ref().ok_or(loaded)?;
    if earlier.in_place.is_back() {
        end(&mut place)?;
        return Ok(None);
    }
    match earlier.plan.jvm.collector.buffers() {
        Err(refusal) if options.insists_on_buffers() => return Err(refusal.to_string()),
        Ok(()) if earlier.observes() && !options.observes() => {}
        _ => return Err(loaded.into()),
    }
    // Not to what is refused afterwards, as far as that can be known: the JVM would be left with neither.
    earlier.plan.check(options, when)?;
    let ground = Ground::beside(earlier.plan.control, options)?;
    earlier.step_aside().inspect_err(|line| ground::is_refused(ground.control, line))?;
    Ok(place.take().map(|observer| (observer, ground)))
}

/// Installs in place of an observer that has stepped aside; otherwise that comes back.
fn replace(
    environment: Environment<'_>,
    observer: Earlier,
    ground: Ground,
    options: Options,
    callbacks: Callbacks,
) -> Result<(), String> {
    let (known, control) = (ground.known_for(&options), ground.control);
    match in_running(environment, options, ground, callbacks) {
        Ok(installed) => {
            let before = observer.plan.control;
            before.make_way(control);
            report::write();
            before.give_up();
            known.publish();
            if observer.jvmti != installed.jvmti {
                give_back(observer.jvmti);
            }
            is_there(installed);
            Ok(())
        }
        Err(line) => {
            ground::is_refused(control, &line);
            come_back(observer);
            Err(line)
        }
    }
}

/// Puts an observer there again that has stepped aside for nothing. It counts on in its own memory, and belongs to whom it belonged to.
#[cold]
fn come_back(mut observer: Earlier) {
    log::set_level(observer.plan.options.log);
    // They have been said.
    observer.plan.remarks.clear();
    match Live::make(&observer.plan).and_then(|live| install(live, &observer.plan, observer.jvmti)) {
        Ok(in_place) => {
            observer.plan.commit();
            is_there(Earlier { in_place, ..observer });
        }
        // The reason why the other was refused is told already.
        Err(line) => {
            observer.plan.control.set_message(&line);
            observer.plan.control.set_state(State::Withdrawn);
            report::write();
            give_back(observer.jvmti);
            LOADED.store(false, Ordering::Release);
        }
    }
}

/// The number of the installation that the calling thread has made last; 0 if it has made none.
pub(crate) fn own() -> u64 {
    OWN.get()
}

/// Has an installation withdraw if it is still there; nothing happens if another has followed it, which is somebody else's. 0 stands for whichever there
/// is. Not on the VM thread.
pub(crate) fn withdraw_own(number: u64) -> Result<(), String> {
    let _changing = lock(&CHANGING);
    let is_there = |earlier: &Earlier| number == 0 || earlier.number == number;
    let Some(control) =
        lock(&EARLIER).as_ref().filter(|earlier| is_there(earlier)).map(|earlier| earlier.plan.control)
    else {
        return Ok(());
    };
    match control.state() {
        Some(State::Installed) => {
            control.set_mode(Mode::Off);
            control.ask_to_withdraw();
            Ok(())
        }
        Some(State::Observing) => take_back(),
        _ => Ok(()),
    }
}

/// Ends the observer, on a thread that is not in HotSpot; of buffers that have gone what is left.
fn take_back() -> Result<(), String> {
    let mut place = lock(&EARLIER);
    let goes = place.as_ref().is_some_and(|earlier| earlier.observes() || earlier.in_place.is_back());
    if !goes {
        return Err("no observer to withdraw: 'terrace off PID' switches buffers off".into());
    }
    end(&mut place)?;
    LOADED.store(false, Ordering::Release);
    Ok(())
}

/// Ends what may be taken back, without a trace.
fn end(place: &mut Option<Earlier>) -> Result<(), String> {
    let Some(earlier) = place else { return Ok(()) };
    earlier.in_place.take_back()?;
    report::write();
    earlier.plan.revert();
    give_back(earlier.jvmti);
    *place = None;
    Ok(())
}

/// The first half, before the heap exists.
fn at_start(
    environment: Environment<'_>,
    options: Options,
    ground: Ground,
    callbacks: Callbacks,
) -> Result<(), String> {
    let plan = Plan::make(options, When::Load, ground)?;
    let jvmti = environment::at_start(environment, &plan.jvm, callbacks)?;
    plan.commit();
    *lock(&WAITING) = Some((plan, jvmti));
    Ok(())
}

/// Both halves at once. Virtual threads may be under way, and what JVMTI is told of them from its first environment on stays: it is got
/// when nothing else can be refused.
fn in_running(
    environment: Environment<'_>,
    options: Options,
    ground: Ground,
    callbacks: Callbacks,
) -> Result<Earlier, String> {
    let plan = Plan::make(options, When::Attach, ground)?;
    let live = Live::make(&plan)?;
    let jvmti = environment::in_running(environment, callbacks)?;
    let in_place = install(live, &plan, jvmti).inspect_err(|_| give_back(jvmti))?;
    // On attach the flags are the last to be set: nothing may show of an attempt that is refused.
    plan.commit();
    Ok(Earlier::new(jvmti, in_place, plan))
}

/// The second half, at VMInit, where nobody can be told of an error but through the log.
pub(crate) fn finish() -> Result<(), Unfinished> {
    let _changing = lock(&CHANGING);
    let Some((plan, jvmti)) = lock(&WAITING).take() else { return Ok(()) };
    match Live::make(&plan).and_then(|live| install(live, &plan, jvmti)) {
        Ok(in_place) => {
            is_there(Earlier::new(jvmti, in_place, plan));
            Ok(())
        }
        Err(line) => {
            plan.revert();
            give_back(jvmti);
            LOADED.store(false, Ordering::Release);
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
