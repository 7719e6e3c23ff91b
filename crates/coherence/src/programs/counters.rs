//! Threads that increment: one counter (Thompson's measurement), or counters of their own.

use crate::constants;
use crate::machine::Machine;
use crate::programs::{Line, Options, Run};
use crate::simulation::{Simulation, over, work};
use crate::watched::{AtomicU64, Ordering};
use std::cell::Cell;
use std::io;

/// How a counter is incremented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Increment {
    /// `lock add`: the value before is not wanted. No cheaper than [`Increment::ExchangeAdd`] on the machines described.
    Add,
    /// `lock xadd`.
    ExchangeAdd,
    /// A load and `lock cmpxchg`, again until it succeeds.
    CompareExchange,
    /// A plain load and store. Of a shared counter increments get lost, and all that were executed count.
    Plain,
    /// As [`Increment::Plain`] where the load has the value of the thread's own last store in no time.
    Forwarded,
}

/// Where the threads' counters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One counter for all threads.
    Shared,
    /// Each thread has its own, 128 bytes apart: x86 processors fetch lines of 64 bytes in pairs.
    Padded,
    /// Each thread has its own, side by side: eight on a line.
    FalseSharing,
}

impl Layout {
    /// All of them.
    pub const ALL: [Layout; 3] = [Layout::Shared, Layout::Padded, Layout::FalseSharing];

    /// In results.
    pub const fn name(self) -> &'static str {
        match self {
            Layout::Shared => "shared",
            Layout::Padded => "padded",
            Layout::FalseSharing => "false_sharing",
        }
    }

    /// The block, and the word in it, of a thread's counter.
    pub const fn place(self, thread: usize) -> (usize, usize) {
        match self {
            Layout::Shared => (0, 0),
            Layout::Padded => (thread, 0),
            Layout::FalseSharing => (thread / WORDS, thread % WORDS),
        }
    }
}

/// Counters on a line of 64 bytes.
pub const WORDS: usize = 8;

/// What an increment takes besides its accesses, in processor cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycles {
    /// The loop around it.
    pub around: f64,
    /// A load of the word right after the thread's own compare-and-swap on it.
    pub after_lock: f64,
}

impl Default for Cycles {
    fn default() -> Cycles {
        Cycles { around: constants::LOOP.value, after_lock: constants::AFTER_LOCK.value }
    }
}

/// Runs it with the register's constants.
///
/// # Errors
/// When there is no memory for the threads' stacks.
pub fn run(machine: &Machine, increment: Increment, layout: Layout, options: &Options) -> io::Result<Run> {
    run_with(machine, increment, layout, Cycles::default(), options)
}

/// Runs it where an increment takes so many cycles.
///
/// # Errors
/// When there is no memory for the threads' stacks.
pub fn run_with(
    machine: &Machine,
    increment: Increment,
    layout: Layout,
    cycles: Cycles,
    options: &Options,
) -> io::Result<Run> {
    let (last, _) = layout.place(options.threads.saturating_sub(1) as usize);
    let blocks: Vec<Line<[AtomicU64; WORDS]>> = (0..=last).map(|_| Line::default()).collect();
    let (lost, executed) = (Cell::new(0_u64), Cell::new(0_u64));
    let after_lock = machine.cycles(cycles.after_lock);
    let around = machine.cycles(cycles.around);
    let mut simulation = Simulation::new(machine, options.seed, options.length, options.events);
    for block in &blocks {
        simulation.name(block.addresses(), "counter");
    }
    for thread in 0..options.threads {
        let (block, word) = layout.place(thread as usize);
        let word = &blocks[block].0[word];
        let (lost, executed) = (&lost, &executed);
        simulation.spawn(options.cpu(machine, thread), options.pinned, move || {
            let mut last = 0;
            while !over() {
                match increment {
                    Increment::Add | Increment::ExchangeAdd => {
                        word.fetch_add(1, Ordering::SeqCst);
                    }
                    Increment::Plain => {
                        word.store(word.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                    }
                    Increment::Forwarded => {
                        last += 1;
                        word.store(last, Ordering::Relaxed);
                    }
                    Increment::CompareExchange => loop {
                        let value = word.load(Ordering::SeqCst);
                        work(after_lock);
                        let new = value + 1;
                        if word.compare_exchange(value, new, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                            break;
                        }
                        lost.set(lost.get() + 1);
                    },
                }
                executed.set(executed.get() + 1);
                work(around);
            }
        })?;
    }
    let outcome = simulation.run();
    let counted: u64 = blocks.iter().flat_map(|block| &block.0).map(AtomicU64::peek).sum();
    debug_assert!(counted <= executed.get(), "{counted} of {}", executed.get());
    Ok(Run::new(executed.get(), lost.get(), options, outcome))
}
