//! Threads that increment counters of their own: on lines of their own, or side by side on one.

use crate::simulated::options;
use coherence::machine::{Machine, Picoseconds};
use coherence::programs::counters::Increment;
use coherence::simulation::{Simulation, over, work};
use coherence::watched::{AtomicU64, Ordering};

/// Counters on a line of 64 bytes.
const PER_LINE: usize = 8;
/// Cycles of the loop around an increment, as in the simulator's program of one counter.
const LOOP_CYCLES: f64 = 1.0;

/// Two lines; the second one is never touched, as in the measured kernel.
#[repr(align(128))]
#[derive(Default)]
struct Block([AtomicU64; PER_LINE]);

/// Nanoseconds of wall time for an increment of all threads together; side by side if `falsely` shared.
pub(super) fn simulate(
    machine: &Machine,
    increment: Increment,
    threads: u32,
    falsely: bool,
    length: Picoseconds,
) -> Option<f64> {
    let options = options(threads, length);
    let blocks: Vec<Block> = (0..threads).map(|_| Block::default()).collect();
    let around = machine.cycles(LOOP_CYCLES);
    let mut simulation = Simulation::new(machine, options.seed, length, options.events);
    for thread in 0..threads {
        let number = thread as usize;
        let word =
            if falsely { &blocks[number / PER_LINE].0[number % PER_LINE] } else { &blocks[number].0[0] };
        let body = move || {
            while !over() {
                if increment == Increment::CompareExchange {
                    // Nobody else writes to it: it never fails.
                    let value = word.load(Ordering::SeqCst);
                    let _ = word.compare_exchange(value, value + 1, Ordering::SeqCst, Ordering::SeqCst);
                } else {
                    word.fetch_add(1, Ordering::SeqCst);
                }
                work(around);
            }
        };
        simulation.spawn(options.cpu(machine, thread), options.pinned, body).ok()?;
    }
    let end = simulation.run().end;
    let increments: u64 = blocks.iter().flat_map(|block| &block.0).map(AtomicU64::peek).sum();
    Some(end as f64 / 1e3 / increments as f64)
}
