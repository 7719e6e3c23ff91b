//! Which buffers to use on a machine, by simulating a small grid of them.
//!
//! Objects in a second are those of the steady state: each candidate is simulated twice, once for twice as long, and the difference
//! counts. All threads begin with empty buffers at once, which would otherwise decide short simulations.

mod candidates;
mod choice;
mod steady;

pub use candidates::{Candidate, Chain};
pub use choice::{CLOSE, choose};

use crate::machine::{Machine, Picoseconds};
use crate::programs::allocate::{Hierarchy, Tlab};
use crate::scenario::{Program, Scenario, tlab_name};
use crate::sweep;
use serde::Serialize;
use std::io;
use steady::Steady;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// A program that allocates.
    pub program: Program,
    /// Bytes of an object, where the program has a choice.
    pub object: u32,
    /// Cycles of work between two objects, where the program has a choice.
    pub work: f64,
    /// Threads.
    pub threads: u32,
    /// Eden in bytes.
    pub eden: usize,
    /// Whether threads stay on their CPUs.
    pub pinned: bool,
    /// For everything that is left to chance.
    pub seed: u64,
    /// Simulated time of the shorter simulation, in picoseconds; `None`: see [`Request::length`].
    pub length: Option<Picoseconds>,
}

/// One candidate and what it came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// From the threads to the heap.
    pub chain: Chain,
    /// Whether the agent has such buffers.
    pub agent: bool,
    /// Threads' buffers: `growing` or a size.
    pub tlab: String,
    /// Bytes of a thread's buffer.
    pub tlab_bytes: u64,
    /// Bytes of a core's buffer.
    pub core_bytes: Option<u64>,
    /// Bytes of the buffer of those who share an L3.
    pub l3_bytes: Option<u64>,
    /// Bytes of a package's buffer.
    pub package_bytes: Option<u64>,
    /// In the steady state.
    pub objects_per_second: f64,
    /// In the steady state.
    pub heap_requests_per_second: f64,
    /// Objects in a second over those of HotSpot's growing thread buffers without levels.
    pub over_growing: f64,
    /// Objects in a second over those without levels and with the same thread buffers.
    pub over_same_tlab: f64,
    /// Bytes in all buffers when they are full.
    pub held_bytes: u64,
}

/// What to use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BufferPlan {
    /// What the agent can do best, or plain HotSpot: with the least memory of all that are at most 2 % slower than the best.
    pub recommended: Row,
    /// HotSpot's growing thread buffers without levels, and then the best of each chain by the same rule.
    pub chains: Vec<Row>,
    /// Everything that was simulated.
    pub all: Vec<Row>,
}

/// What a thread alone allocates in the shorter simulation, in bytes: some of the largest core buffers that are tried.
const ALLOCATED: f64 = 2e6;
/// The limits of that time, in picoseconds.
const LENGTHS: (f64, f64) = (5e7, 5e10);

impl Request {
    /// Simulated time of the shorter simulation, in picoseconds: that in which a thread that never waits allocates 2 MB, unless
    /// another one is asked for. So fast and slow programs take as many refills.
    pub fn length(&self, machine: &Machine) -> Picoseconds {
        let usual = || {
            let mutator = self.scenario(0, Tlab::Growing, Hierarchy::None).mutator()?;
            let mean = mutator.mean_bytes();
            let cycles = (mutator.object_cycles + mutator.byte_cycles * mean) * machine.costs.work_scale;
            let time = ALLOCATED / mean * cycles * 1e3 / machine.clock_ghz;
            Some(time.clamp(LENGTHS.0, LENGTHS.1) as Picoseconds)
        };
        self.length.or_else(usual).unwrap_or(LENGTHS.0 as Picoseconds)
    }

    fn scenario(&self, length: Picoseconds, tlab: Tlab, hierarchy: Hierarchy) -> Scenario {
        Scenario {
            program: self.program,
            threads: self.threads,
            tlab,
            hierarchy,
            eden: self.eden,
            object: self.object,
            work: self.work,
            pinned: self.pinned,
            seed: self.seed,
            length,
        }
    }

    /// Says what cannot be planned, and what to do about it, in one line.
    pub fn check(&self) -> Result<(), String> {
        self.scenario(self.length.unwrap_or(1), Tlab::Growing, Hierarchy::None).check()
    }
}

/// Simulates the candidates and chooses; `done` is told how many of how many candidates are done.
///
/// # Errors
/// When there is no memory for the threads' stacks.
pub fn plan(
    machine: &Machine,
    request: &Request,
    done: impl Fn(usize, usize) + Sync,
) -> io::Result<BufferPlan> {
    let candidates = candidates::candidates(machine, request);
    let length = request.length(machine);
    let scenario = |candidate: &Candidate| request.scenario(length, candidate.tlab, candidate.hierarchy());
    let steady = |candidate: &Candidate| Steady::of(machine, &scenario(candidate));
    let steady = sweep::each(&candidates, |count| done(count, candidates.len()), steady);
    let steady = steady.into_iter().collect::<io::Result<Vec<Steady>>>()?;
    let base = |tlab: Tlab| {
        let same = |candidate: &Candidate| candidate.chain == Chain::Heap && candidate.tlab == tlab;
        candidates.iter().position(same).map_or(f64::NAN, |index| steady[index].objects)
    };
    let growing = base(Tlab::Growing);
    let row = |(candidate, steady): (&Candidate, &Steady)| {
        let [core, l3, package] = candidate.bytes();
        Row {
            chain: candidate.chain,
            agent: candidate.chain.agent(),
            tlab: tlab_name(candidate.tlab),
            tlab_bytes: candidate.tlab.bytes(request.eden, request.threads) as u64,
            core_bytes: core,
            l3_bytes: l3,
            package_bytes: package,
            objects_per_second: steady.objects,
            heap_requests_per_second: steady.heap_requests,
            over_growing: steady.objects / growing,
            over_same_tlab: steady.objects / base(candidate.tlab),
            held_bytes: scenario(candidate).held(machine),
        }
    };
    let rows: Vec<Row> = candidates.iter().zip(&steady).map(row).collect();
    // The growing ones are always among the candidates, and first.
    let stock = rows[0].clone();
    let recommended = choose(rows.iter().filter(|row| row.agent)).unwrap_or(&stock).clone();
    let fixed = |chain| choose(rows.iter().skip(1).filter(move |row| row.chain == chain)).cloned();
    let chains = std::iter::once(stock.clone()).chain(Chain::ALL.into_iter().filter_map(fixed)).collect();
    Ok(BufferPlan { recommended, chains, all: rows })
}

#[cfg(test)]
#[path = "plan_test.rs"]
mod tests;
