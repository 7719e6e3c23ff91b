//! A simulated thread, and what its code may ask for.

use super::stores::Stores;
use super::{Step, WORLD, World};
use crate::machine::Picoseconds;
use crate::watched::Access;
use corosensei::Yielder;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use std::ptr;

/// A thread's number, in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number(pub u32);

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// On its CPU.
    Running,
    /// Waiting for its CPU.
    Ready,
    /// Waiting for another thread.
    Parked,
    /// At its end.
    Ended,
}

/// One thread.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) yielder: *const Yielder<(), ()>,
    pub(super) status: Status,
    /// Its own moment.
    pub(super) time: Picoseconds,
    pub(super) cpu: u32,
    pub(super) pinned: bool,
    /// Plain stores on their way to the cache.
    pub(super) stores: Stores,
    /// The access for which it waits.
    pub(super) pending: Option<(usize, Access)>,
    /// It waits for a line.
    pub(super) blocked: bool,
    /// It waits for a line because of stores in its buffer.
    pub(super) stuffed: bool,
    /// Until when it waits for a line that is on its way: the core's other threads have the core for themselves.
    pub(super) stalled: Picoseconds,
    /// The core that what it waited for came to.
    pub(super) granted: Option<u32>,
    /// When the scheduler looks at it: the end of its time slice if others wait for the CPU, or its next migration.
    pub(super) interrupt: Picoseconds,
    pub(super) slice_end: Picoseconds,
    pub(super) migration: Picoseconds,
    /// Somebody called [`unpark`] before it parked.
    pub(super) token: bool,
    pub(super) random: Xoshiro256PlusPlus,
}

impl Thread {
    pub(super) fn new(cpu: u32, pinned: bool, random: Xoshiro256PlusPlus) -> Thread {
        Thread {
            yielder: ptr::null(),
            status: Status::Ready,
            time: 0,
            cpu,
            pinned,
            stores: Stores::default(),
            stalled: 0,
            pending: None,
            blocked: false,
            stuffed: false,
            granted: None,
            interrupt: Picoseconds::MAX,
            slice_end: Picoseconds::MAX,
            migration: Picoseconds::MAX,
            token: false,
            random,
        }
    }

    /// Whether the scheduler has to look at it. It does not within an instruction: what the thread waited for has come, and is used
    /// before the CPU is lost.
    #[inline]
    pub(super) fn interrupted(&self) -> bool {
        self.time >= self.interrupt && self.granted.is_none()
    }

    /// Goes on elsewhere after a switch. What is left of its slice and until its next migration counts from its arrival: if a switch
    /// took from them, threads that share CPUs would move each other for ever where a switch takes longer than a slice.
    pub(super) fn moved(&mut self, cpu: u32, switch: Picoseconds) {
        self.cpu = cpu;
        self.time += switch;
        self.slice_end = self.slice_end.saturating_add(switch);
        self.migration = self.migration.saturating_add(switch);
    }

    /// Waits for its store buffer until a moment: the core's other threads have the core for themselves.
    #[inline]
    pub(super) const fn until(&mut self, moment: Picoseconds) {
        if moment > self.time {
            self.time = moment;
            self.stalled = moment;
        }
    }

    /// Waits for what comes to a core at a moment, or to ask again then.
    pub(super) fn wait(&mut self, core: Option<u32>, until: Picoseconds) -> Step {
        self.granted = core;
        self.time = self.time.max(until);
        self.stalled = self.time;
        Step::Wait
    }
}

/// The first thing that a thread's coroutine does.
pub(super) fn begin(number: usize, yielder: &Yielder<(), ()>) {
    with(|world| world.threads[number].yielder = ptr::from_ref(yielder));
}

/// Gives the processor of the simulation back until this thread's turn has come, and its pending access has happened.
pub(super) fn suspend(world: *mut World<'static>) {
    // SAFETY: the world of the simulation that runs this coroutine, used for one expression.
    let yielder = unsafe {
        let world = &*world;
        world.threads[world.current.0 as usize].yielder
    };
    // SAFETY: set by `begin` in this very coroutine, whose frame is below this one.
    unsafe { (*yielder).suspend(()) };
}

/// The world of the simulation whose thread this is; alive while this thread runs.
///
/// # Panics
/// Outside of a simulated thread.
#[inline]
pub(super) fn world() -> *mut World<'static> {
    let world = WORLD.get();
    assert!(!world.is_null(), "only for the bodies of simulated threads");
    world
}

#[inline]
fn with<R>(look: impl FnOnce(&mut World<'static>) -> R) -> R {
    let world = world();
    // SAFETY: alive while the simulation runs; `look` neither suspends the thread nor gets at the world another way.
    look(unsafe { &mut *world })
}

/// This thread's number.
pub fn this() -> Number {
    with(|world| world.current)
}

/// The CPU on which this thread is at this moment. Waits for its turn: whoever was moved before this moment has been.
pub fn cpu() -> u32 {
    lock_step();
    with(|world| world.threads[world.current.0 as usize].cpu)
}

/// The CPU on which this thread's last access was. Other than [`cpu`] it does not wait: threads with an earlier moment may still
/// change places with this one.
pub fn last_cpu() -> u32 {
    with(|world| world.threads[world.current.0 as usize].cpu)
}

/// This thread's moment in picoseconds.
pub fn now() -> Picoseconds {
    with(|world| world.threads[world.current.0 as usize].time)
}

/// Whether the simulation's length is reached for this thread.
pub fn over() -> bool {
    with(|world| world.threads[world.current.0 as usize].time >= world.until)
}

/// A random number of this thread's own sequence.
pub fn random() -> u64 {
    with(|world| world.threads[world.current.0 as usize].random.next_u64())
}

/// Computes for so long without any shared memory; longer if the core's other thread is busy.
#[inline]
pub fn work(time: Picoseconds) {
    with(|world| {
        let number = world.current.0 as usize;
        let share = world.share(world.threads[number].cpu, world.threads[number].time);
        world.threads[number].time += if share == 1.0 { time } else { (time as f64 * share) as Picoseconds };
    });
}

/// Computes for so long while so many bytes of new objects are written: the thread goes on when both are done. Lines are fetched ahead
/// and written back behind, so that work and way overlap.
pub fn produce(time: Picoseconds, bytes: usize) {
    if bytes == 0 || !with(|world| world.memory.streaming()) {
        work(time);
        return;
    }
    // Ways are asked in the order of moments.
    lock_step();
    let end = with(|world| {
        let thread = &world.threads[world.current.0 as usize];
        let core = world.grid.core_of(thread.cpu);
        world.memory.produce(&world.grid, core, bytes as f64, thread.time)
    });
    work(time);
    with(|world| {
        let thread = &mut world.threads[world.current.0 as usize];
        thread.time = thread.time.max(end);
    });
}

/// Writes the beginning of a new object at an address of the simulated heap. Its line may be one on which another core writes its
/// own new object.
pub fn store_object(address: usize) {
    lock_step();
    while with(|world| world.store_object(address)) == Step::Wait {
        suspend(world());
    }
}

/// Waits until this thread's moment is the earliest of all: what it does then happens before anything that others have still to do.
pub fn lock_step() {
    let world = world();
    // SAFETY: as in `with`; the reference ends before the thread is suspended.
    while unsafe { (*world).too_early() } {
        suspend(world);
    }
}

/// Gives the CPU away until another thread calls [`unpark`]; returns at once if it has since the last time.
pub fn park() {
    lock_step();
    let parked = with(|world| {
        let thread = &mut world.threads[world.current.0 as usize];
        if !std::mem::take(&mut thread.token) {
            thread.status = Status::Parked;
        }
        thread.status == Status::Parked
    });
    if parked {
        suspend(world());
    }
}

/// Has a parked thread go on at this thread's moment; if it is not parked its next [`park`] returns at once.
pub fn unpark(number: Number) {
    // A thread that is still at an earlier moment must not find out before.
    lock_step();
    with(|world| {
        let time = world.threads[world.current.0 as usize].time;
        world.wake(number, time);
    });
}
