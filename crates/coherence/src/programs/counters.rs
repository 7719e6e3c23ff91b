//! One counter that all threads increment: Thompson's measurement.

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
    /// A plain load and store of the thread's own counter, on a line of its own.
    OwnPlain,
    /// A plain load and store of one counter for all threads: increments get lost, and all that were executed count.
    SharedPlain,
    /// As [`Increment::OwnPlain`] where the load has the value of the thread's own last store in no time.
    OwnForwarded,
    /// As [`Increment::SharedPlain`] where the load has the value of the thread's own last store in no time.
    SharedForwarded,
    /// As [`Increment::CompareExchange`], each thread on a line of its own.
    OwnCompareExchange,
}

impl Increment {
    /// Whether each thread has its own counter.
    const fn own(self) -> bool {
        matches!(self, Increment::OwnPlain | Increment::OwnForwarded | Increment::OwnCompareExchange)
    }
}

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
pub fn run(machine: &Machine, increment: Increment, options: &Options) -> io::Result<Run> {
    run_with(machine, increment, Cycles::default(), options)
}

/// Runs it where an increment takes so many cycles.
///
/// # Errors
/// When there is no memory for the threads' stacks.
pub fn run_with(
    machine: &Machine,
    increment: Increment,
    cycles: Cycles,
    options: &Options,
) -> io::Result<Run> {
    let lines = if increment.own() { options.threads.max(1) } else { 1 };
    let counters: Vec<Line<AtomicU64>> = (0..lines).map(|_| Line::default()).collect();
    let (lost, executed) = (Cell::new(0_u64), Cell::new(0_u64));
    let after_lock = machine.cycles(cycles.after_lock);
    let around = machine.cycles(cycles.around);
    let mut simulation = Simulation::new(machine, options.seed, options.length, options.events);
    for counter in &counters {
        simulation.name(counter.addresses(), "counter");
    }
    for thread in 0..options.threads {
        let (word, lost) = (&counters[(thread % lines) as usize].0, &lost);
        let executed = &executed;
        simulation.spawn(options.cpu(machine, thread), options.pinned, move || {
            let mut last = 0;
            while !over() {
                match increment {
                    Increment::Add | Increment::ExchangeAdd => {
                        word.fetch_add(1, Ordering::SeqCst);
                    }
                    Increment::OwnPlain | Increment::SharedPlain => {
                        word.store(word.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                    }
                    Increment::OwnForwarded | Increment::SharedForwarded => {
                        last += 1;
                        word.store(last, Ordering::Relaxed);
                    }
                    Increment::CompareExchange | Increment::OwnCompareExchange => loop {
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
    let counted: u64 = counters.iter().map(|counter| counter.0.peek()).sum();
    debug_assert!(counted <= executed.get(), "{counted} of {}", executed.get());
    Ok(Run::new(executed.get(), lost.get(), options, outcome))
}
