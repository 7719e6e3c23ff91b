//! One simulation as a user asks for it, and what came of it.
//!
//! | part | what it is |
//! |---|---|
//! | [`Program`] | what is simulated, by name |
//! | [`Levels`], [`Sizes`] | the buffers between threads and heap |
//! | [`Scenario`] | all of it |
//! | [`Measured`] | what came of it, in units that people ask for |

mod levels;
mod measured;
mod program;
mod roofline;

pub use levels::{LARGEST_BUFFER, Levels, Sizes, bearable, domains_in_use};
pub use measured::{Buffers, Level, Measured};
pub use program::{BYTE_CYCLES, DEFAULT_OBJECT, DEFAULT_WORK, Kind, Program};
pub use roofline::{Bound, Limit, Roofline, work};

use crate::constants;
use crate::machine::{Machine, Picoseconds};
use crate::memory::Traffic;
use crate::programs::allocate::{self, Allocation, Collector, HeapCycles, Hierarchy, Mutator, Rank, Tlab};
use crate::programs::{Options, counters};
use std::io;

/// The most threads.
pub const MOST_THREADS: u32 = 8192;
/// The largest eden, in bytes.
pub const LARGEST_EDEN: usize = 1 << 40;

/// What threads do besides their accesses and the program's own work, in cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calls {
    /// A refill of a thread's buffer.
    pub refill: f64,
    /// A request to the heap, on top of it.
    pub heap: HeapCycles,
    /// Zeroing and first writing a byte of a new object, where the program has no recorded profile.
    pub byte: f64,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls { refill: constants::REFILL.value, heap: constants::HEAP.value.into(), byte: BYTE_CYCLES }
    }
}

/// One simulation.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What is simulated.
    pub program: Program,
    /// Threads.
    pub threads: u32,
    /// Threads' buffers.
    pub tlab: Tlab,
    /// What stands between them and the heap.
    pub hierarchy: Hierarchy,
    /// Eden in bytes.
    pub eden: usize,
    /// Who hands it out.
    pub collector: Collector,
    /// Bytes of an object, where the program has a choice.
    pub object: u32,
    /// Cycles of work between two objects, where the program has a choice.
    pub work: f64,
    /// What calls into the virtual machine take besides their accesses.
    pub calls: Calls,
    /// Whether threads stay on their CPUs.
    pub pinned: bool,
    /// For everything that is left to chance.
    pub seed: u64,
    /// Simulated time in picoseconds.
    pub length: Picoseconds,
}

impl Scenario {
    /// Says what cannot be simulated, and what to do about it, in one line.
    pub fn check(&self) -> Result<(), String> {
        if self.threads == 0 || self.threads > MOST_THREADS {
            return Err(format!("{} threads cannot be simulated; specify 1 to {MOST_THREADS}", self.threads));
        }
        if self.length == 0 {
            return Err("a time of 0 cannot be simulated; specify 1us or more".into());
        }
        if !self.program.allocates() {
            return Ok(());
        }
        if self.eden > LARGEST_EDEN {
            return Err(format!("an eden of {} GB is too large; specify at most 1024g", self.eden >> 30));
        }
        for Rank { domain, bytes } in self.ranks() {
            if *bytes > LARGEST_BUFFER {
                let (name, most) = (domain.name(), LARGEST_BUFFER >> 20);
                return Err(format!(
                    "{bytes} bytes are too large for a {name} buffer; specify at most {most}m"
                ));
            }
        }
        // A thread that never gets its buffer would ask for one for ever. Tails take some of eden too.
        let largest = self.ranks().iter().map(|rank| rank.bytes).max().unwrap_or(0);
        let least = self.tlab.bytes(self.eden, self.threads) * self.threads as usize + largest;
        let least = 2 * least.max(1 << 16);
        if least > self.eden {
            let (have, want) = (self.eden >> 10, least.div_ceil(1 << 10));
            return Err(format!(
                "an eden of {have} KB is too small for the buffers of {} threads; specify {want}k or more, or smaller \
                 buffers",
                self.threads
            ));
        }
        Ok(())
    }

    /// The levels, nearest to the threads first.
    pub fn ranks(&self) -> &[Rank] {
        match &self.hierarchy {
            Hierarchy::None => &[],
            Hierarchy::Levels(ranks) => ranks,
            Hierarchy::Paper(rank, _) => std::slice::from_ref(rank),
        }
    }

    /// What threads do, for programs that allocate.
    pub fn mutator(&self) -> Option<Mutator> {
        match self.program.kind(self.object, self.work, self.calls.byte) {
            Kind::Counter(_) => None,
            Kind::Allocation(mutator) => Some(mutator),
        }
    }

    /// Simulates it; the first `events` transfers are kept one by one, and the pairs of cores if that is not 0.
    ///
    /// # Errors
    /// When there is no memory for the threads' stacks.
    pub fn run(&self, machine: &Machine, events: usize) -> io::Result<(Measured, Traffic)> {
        let (threads, pinned, seed, length) = (self.threads, self.pinned, self.seed, self.length);
        let options = Options { threads, pinned, seed, length, events };
        Ok(match self.program.kind(self.object, self.work, self.calls.byte) {
            Kind::Counter(increment) => {
                let run = counters::run(machine, increment, counters::Layout::Shared, &options)?;
                let measured = Measured::of_counter(self, machine, &run);
                (measured, run.outcome.traffic)
            }
            Kind::Allocation(mutator) => {
                let allocated = allocate::run(machine, &self.allocation(mutator), &options)?;
                let measured = Measured::of_allocation(self, machine, &allocated);
                (measured, allocated.run.outcome.traffic)
            }
        })
    }

    fn allocation(&self, mutator: Mutator) -> Allocation {
        Allocation {
            tlab: self.tlab,
            hierarchy: self.hierarchy.clone(),
            eden: self.eden,
            collector: self.collector,
            mutator,
            refill_cycles: self.calls.refill,
            heap_cycles: self.calls.heap,
            // What a collection takes depends on what survives, which is not simulated.
            pause: 0,
        }
    }

    /// Bytes that lie in buffers when all of them are full: those of all threads, and of all domains that threads run on.
    pub fn held(&self, machine: &Machine) -> u64 {
        let threads = self.tlab.bytes(self.eden, self.threads) as u64 * u64::from(self.threads);
        let levels = self.ranks().iter().map(|rank| {
            let count = if self.pinned {
                domains_in_use(machine, rank.domain, self.threads)
            } else {
                rank.domain.count(machine)
            };
            (rank.bytes * count) as u64
        });
        threads + levels.sum::<u64>()
    }
}

/// Threads' buffers as users write them.
pub fn tlab_name(tlab: Tlab) -> String {
    match tlab {
        Tlab::None => "none".into(),
        Tlab::Growing => "growing".into(),
        Tlab::Bytes(bytes) if bytes.is_multiple_of(1 << 20) => format!("{}m", bytes >> 20),
        Tlab::Bytes(bytes) if bytes.is_multiple_of(1 << 10) => format!("{}k", bytes >> 10),
        Tlab::Bytes(bytes) => bytes.to_string(),
    }
}

#[cfg(test)]
#[path = "scenario_test.rs"]
mod tests;
