//! One counter that all threads increment: Thompson's measurement.

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
}

/// Cycles of the loop around an increment.
const LOOP_CYCLES: f64 = 1.0;

/// Runs it.
///
/// # Errors
/// When there is no memory for the threads' stacks.
pub fn run(machine: &Machine, increment: Increment, options: &Options) -> io::Result<Run> {
    let counter = Box::new(Line(AtomicU64::new(0)));
    let lost = Cell::new(0_u64);
    let around = machine.cycles(LOOP_CYCLES);
    let mut simulation = Simulation::new(machine, options.seed, options.length, options.events);
    simulation.name(counter.addresses(), "counter");
    for thread in 0..options.threads {
        let (word, lost) = (&counter.0, &lost);
        simulation.spawn(options.cpu(machine, thread), options.pinned, move || {
            while !over() {
                match increment {
                    Increment::Add | Increment::ExchangeAdd => {
                        word.fetch_add(1, Ordering::SeqCst);
                    }
                    Increment::CompareExchange => loop {
                        let value = word.load(Ordering::SeqCst);
                        let new = value + 1;
                        if word.compare_exchange(value, new, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                            break;
                        }
                        lost.set(lost.get() + 1);
                    },
                }
                work(around);
            }
        })?;
    }
    let outcome = simulation.run();
    let operations = counter.0.load(Ordering::Relaxed);
    Ok(Run::new(operations, lost.get(), options, outcome))
}
