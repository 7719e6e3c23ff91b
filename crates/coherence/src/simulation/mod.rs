//! The discrete-event simulation: threads on processors over a memory.
//!
//! A simulated thread is a coroutine with a clock of its own. It runs ahead until an access to the memory lies behind the next moment
//! of another thread; then it waits for its turn. So accesses happen in the order of their moments, ties in the order of the threads'
//! numbers, and the same seed gives the same result bit for bit.
//!
//! What is charged: accesses by the state of their lines, what programs declare with [`work`], and the way of new objects' lines to
//! memory ([`produce`]). What is not: instruction fetch, page faults, and capacities of caches for anything but new objects.

mod queue;
mod scheduler;
mod stores;
mod thread;
mod turns;

pub use thread::{
    Number, cpu, last_cpu, lock_step, now, over, park, produce, random, store_object, this, unpark, work,
};

use crate::machine::{Grid, Machine, Picoseconds};
use crate::memory::{Answer, Memory, Streamed, Traffic, Transfer, Want};
use crate::watched::{self, Access};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use queue::{Queues, Waiter};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use scheduler::Cpu;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;
use thread::{Status, Thread};
use turns::{Turn, Turns};

/// What a coroutine's stack may take, in bytes; memory is taken page by page as it is used.
const STACK_BYTES: usize = 256 << 10;

thread_local! {
    /// The simulation that this thread of the operating system is in.
    static WORLD: Cell<*mut World<'static>> = const { Cell::new(ptr::null_mut()) };
}

/// A simulation to be run; see the module.
///
/// What its threads are given lives longer than it does: it may be dropped without having run.
///
/// ```compile_fail,E0597
/// use std::cell::Cell;
/// use terrace_coherence::{machine::Machine, simulation::Simulation};
///
/// struct Held<'a>(&'a Cell<u32>);
/// impl Drop for Held<'_> {
///     fn drop(&mut self) {
///         self.0.set(1);
///     }
/// }
///
/// let machine = Machine::named("two-vcpu-epyc").unwrap();
/// let mut simulation = Simulation::new(&machine, 0, 1, 0);
/// let cell = Cell::new(0);
/// let held = Held(&cell);
/// simulation.spawn(0, true, move || drop(held)).unwrap();
/// ```
pub struct Simulation<'a> {
    world: Box<World<'a>>,
    coroutines: Vec<Coroutine<(), (), (), DefaultStack>>,
    /// What the coroutines hold: tells the compiler that dropping them looks at it.
    bodies: PhantomData<Box<dyn FnOnce() + 'a>>,
}

/// What a simulation came to.
#[derive(Clone, Debug)]
pub struct SimulationResult {
    /// The last thread's moment when it ended.
    pub end: Picoseconds,
    /// What happened to the lines.
    pub traffic: Traffic,
    /// What the ways to memory carried.
    pub streamed: Streamed,
    /// Times that a thread was moved to another CPU.
    pub migrations: u64,
    /// Times that a thread had to leave its CPU to another one.
    pub preemptions: u64,
}

/// Everything that threads share.
struct World<'a> {
    grid: Grid<'a>,
    memory: Memory,
    threads: Vec<Thread>,
    cpus: Vec<Cpu>,
    /// Who waits for a line.
    queues: Queues,
    /// The threads that have a CPU but the current one, and the lines that somebody waits for, by the moment at which they go on.
    turns: Turns,
    current: Number,
    /// The next turn of the thread that has just given the processor back, which is not in the queue yet.
    own: Option<Turn>,
    /// The next turn of another thread.
    horizon: Turn,
    /// Threads that have not ended.
    unfinished: u32,
    /// When the last thing happened.
    moment: Picoseconds,
    /// When threads are to end.
    until: Picoseconds,
    random: Xoshiro256PlusPlus,
    migrations: u64,
    preemptions: u64,
}

/// Whether an access has happened or the thread has to wait.
#[derive(PartialEq, Eq)]
enum Step {
    Done,
    Wait,
}

impl<'a> Simulation<'a> {
    /// Of a machine, with a seed for everything that is left to chance, for a length of simulated time; the first `events` transfers
    /// are kept one by one.
    pub fn new(machine: &'a Machine, seed: u64, length: Picoseconds, events: usize) -> Simulation<'a> {
        let cpus = (0..machine.shape.cpus()).map(|_| Cpu::default()).collect();
        let world = World {
            grid: Grid::new(machine),
            memory: Memory::new(machine, events),
            threads: Vec::new(),
            cpus,
            queues: Queues::default(),
            turns: Turns::new(),
            current: Number(0),
            own: None,
            horizon: Turn::NEVER,
            unfinished: 0,
            moment: 0,
            until: length,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            migrations: 0,
            preemptions: 0,
        };
        Simulation { world: Box::new(world), coroutines: Vec::new(), bodies: PhantomData }
    }

    /// From now on what threads [`produce`] goes to memory, with so many bytes on the way for each of theirs: to that of their own
    /// package if it is `local`, to that of all otherwise.
    pub const fn stream(&mut self, traffic: f64, local: bool) {
        self.world.memory.stream(traffic, local);
    }

    /// Names the lines of a range of addresses.
    pub fn name(&mut self, addresses: Range<usize>, name: impl Into<String>) {
        self.world.memory.name(addresses, name.into());
    }

    /// Adds a thread on a CPU (its number modulo those that there are); it stays there if it is `pinned`.
    ///
    /// # Errors
    /// When there is no memory for its stack.
    pub fn spawn(&mut self, cpu: u32, pinned: bool, body: impl FnOnce() + 'a) -> std::io::Result<()> {
        let stack = DefaultStack::new(STACK_BYTES)?;
        let number = self.coroutines.len();
        // SAFETY: the coroutine is dropped with the simulation, which does not outlive 'a, not even while it is dropped (`bodies`);
        // what it captures lives as long.
        let coroutine = unsafe {
            Coroutine::with_stack_unchecked(stack, move |yielder, ()| {
                thread::begin(number, yielder);
                body();
            })
        };
        self.coroutines.push(coroutine);
        let cpus = self.world.grid.machine.shape.cpus();
        self.world.add_thread(cpu % cpus, pinned);
        Ok(())
    }

    /// Runs until all threads have ended. Threads see by [`over`] that the length is reached.
    ///
    /// # Panics
    /// If a thread's body panics, or if threads wait for each other for ever.
    pub fn run(self) -> SimulationResult {
        let Simulation { world, coroutines, .. } = self;
        let world = Box::into_raw(world);
        let mut running = Running {
            coroutines,
            before: WORLD.replace(world.cast()),
            watcher: watched::watch(Some(watcher)),
        };
        // SAFETY: made above; the reference ends before a coroutine runs, which makes its own.
        while let Some(number) = unsafe { &mut *world }.next_turn() {
            let result = running.coroutines[number.0 as usize].resume(());
            // SAFETY: as above; the coroutine has given its own references up.
            let world = unsafe { &mut *world };
            match result {
                CoroutineResult::Yield(()) => world.suspended(number),
                CoroutineResult::Return(()) => world.ended(number),
            }
        }
        drop(running);
        // SAFETY: from `into_raw` above, and nobody can reach it any more. If a body panics the world is leaked, not freed twice.
        let world = *unsafe { Box::from_raw(world) };
        let waiting = world.threads.iter().filter(|thread| thread.status != Status::Ended).count();
        assert!(waiting == 0, "{waiting} threads wait for ever");
        let end = world.threads.iter().map(|thread| thread.time).max().unwrap_or(0);
        let (traffic, streamed) = world.memory.into_results(end);
        SimulationResult {
            end,
            streamed,
            traffic,
            migrations: world.migrations,
            preemptions: world.preemptions,
        }
    }
}

/// The coroutines while they run. Puts back what was there before, if a body panics too.
struct Running {
    coroutines: Vec<Coroutine<(), (), (), DefaultStack>>,
    before: *mut World<'static>,
    watcher: Option<watched::Watcher>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // What suspended threads hold is dropped on their stacks: neither this simulation nor the one before may be asked there.
        WORLD.set(ptr::null_mut());
        watched::watch(None);
        self.coroutines.clear();
        WORLD.set(self.before);
        watched::watch(self.watcher);
    }
}

/// Is told of each access of the current thread, and returns when it may happen.
fn watcher(address: usize, access: Access) {
    let pointer = thread::world();
    // SAFETY: set by `run` for as long as it runs, and this is a coroutine of it; the reference ends before the thread is suspended.
    let world = unsafe { &mut *pointer };
    if world.access(address, access) == Step::Wait {
        world.threads[world.current.0 as usize].pending = Some((address, access));
        thread::suspend(pointer);
    }
}

impl World<'_> {
    /// A plain store into a new object: nobody but the next locked instruction waits for it. The thread has to wait, and to do this again,
    /// where nobody knows when there is room for it.
    #[inline]
    fn store_object(&mut self, address: usize) -> Step {
        let Some(room) = self.buffered(Want::Write) else { return self.wait_for_stores() };
        let World { grid, memory, threads, current, .. } = self;
        let thread = &mut threads[current.0 as usize];
        let core = grid.core_of(thread.cpu);
        thread.until(room);
        let stored = memory.write_object(grid, address, core, thread.time);
        thread.stores.add(address, core, Some(stored), thread.time + grid.costs().drain);
        thread.time += grid.costs().store;
        Step::Done
    }

    /// When the current thread's store buffer is as an access wants it; `None` where that depends on a line that has not set out to it.
    #[inline]
    fn buffered(&mut self, want: Want) -> Option<Picoseconds> {
        let thread = &mut self.threads[self.current.0 as usize];
        match want {
            // It is empty before a locked instruction begins.
            Want::Lock => thread.stores.drained(thread.time),
            Want::Write => thread.stores.room(thread.time, self.grid.costs().store_buffer),
            Want::Read => Some(thread.time),
        }
    }

    /// Has the current thread wait until a line has set out for one of its stores.
    fn wait_for_stores(&mut self) -> Step {
        let thread = &mut self.threads[self.current.0 as usize];
        (thread.blocked, thread.stuffed) = (true, true);
        Step::Wait
    }

    /// What an access wants of its line, and what it takes where the line is there.
    #[inline]
    fn want(&self, access: Access) -> (Want, Picoseconds) {
        let costs = self.grid.costs();
        match access {
            Access::Load => (Want::Read, costs.l1),
            Access::Store => (Want::Write, costs.store),
            Access::Locked => (Want::Lock, costs.locked),
            Access::Fence | Access::Lost => (Want::Lock, costs.drain),
        }
    }

    /// Whether what the current thread asked for has come, and it is still where it came to: then it has its access. It is the thread's
    /// turn.
    #[inline]
    fn granted(&mut self, access: Access) -> bool {
        let (want, cost) = self.want(access);
        let thread = &mut self.threads[self.current.0 as usize];
        let Some(core) = thread.granted.take() else { return false };
        let here = core == self.grid.core_of(thread.cpu);
        if here {
            thread.time += if want == Want::Read { 0 } else { cost };
        }
        here
    }

    /// Does what an access costs at the current thread's moment, or has it wait for its turn.
    #[inline]
    fn access(&mut self, address: usize, access: Access) -> Step {
        if access == Access::Lost {
            self.memory.lost(address);
            return Step::Done;
        }
        let (want, _) = self.want(access);
        match self.buffered(want) {
            Some(time) => self.threads[self.current.0 as usize].until(time),
            None if !self.too_early() => return self.wait_for_stores(),
            None => {}
        }
        if self.too_early() {
            return Step::Wait;
        }
        self.perform(address, access)
    }

    /// Does what an access costs at the current thread's moment: it is its turn, and its store buffer is as the access wants it.
    #[inline]
    fn perform(&mut self, address: usize, access: Access) -> Step {
        self.reach(self.threads[self.current.0 as usize].time);
        let (want, cost) = self.want(access);
        let thread = &mut self.threads[self.current.0 as usize];
        let core = self.grid.core_of(thread.cpu);
        if access == Access::Fence {
            thread.time += cost;
            return Step::Done;
        }
        let now = thread.time;
        let retired = now + self.grid.costs().drain;
        if want == Want::Read && thread.stores.forwards(address, core, now) {
            thread.time += cost;
            return Step::Done;
        }
        if want != Want::Lock && thread.stores.waits(address, core) {
            // The line has been asked for: a load of another word waits for it, too.
            if want == Want::Read {
                return self.wait_for_stores();
            }
            thread.stores.add(address, core, None, retired);
            thread.time += cost;
            return Step::Done;
        }
        let (line, answer) = self.memory.ask(&self.grid, address, core, want, now);
        // A plain store waits in its buffer, the thread does not.
        if want == Want::Write {
            let arrived = match answer {
                Answer::Now => Some(now),
                Answer::Then(time) | Answer::Transfer(Transfer { end: time, .. }) => Some(time),
                Answer::Busy(_) => None,
            };
            thread.stores.add(address, core, arrived, retired);
            thread.time += cost;
        }
        match answer {
            Answer::Busy(free) => {
                let stored = (want == Want::Write).then_some(address);
                let waiter = Waiter { thread: self.current, core, want, asked: now, stored };
                if self.queues.join(line, waiter, &self.grid) {
                    let turn = Turn::of_line(line, free);
                    self.turns.push(turn);
                    // The thread goes on after a store, but not past this.
                    self.horizon = self.horizon.min(turn);
                }
                if stored.is_some() {
                    return Step::Done;
                }
                self.threads[self.current.0 as usize].blocked = true;
                Step::Wait
            }
            _ if want == Want::Write => Step::Done,
            Answer::Now => {
                thread.time += cost;
                Step::Done
            }
            Answer::Then(time) if want == Want::Lock => thread.wait(None, time),
            Answer::Then(time) | Answer::Transfer(Transfer { end: time, .. }) => {
                thread.wait(Some(core), time)
            }
        }
    }
}
