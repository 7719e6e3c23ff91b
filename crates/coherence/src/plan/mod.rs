//! Which buffers to use on a machine, by simulating a small grid of them.
//!
//! Objects in a second are those of the steady state: each candidate is simulated twice, once for twice as long, and the difference
//! counts. All threads begin with empty buffers at once, which would otherwise decide short simulations.

mod candidates;
mod choice;
mod collections;
pub mod map;
mod ranges;
mod steady;
mod uncertain;

pub use candidates::{Candidate, Chain};
pub use choice::{CLOSE, choose};
pub use collections::{Collections, Pauses, Survivors, Young};
pub use uncertain::{Influence, Sureness, TELLING};

use crate::machine::{Machine, Picoseconds};
use crate::programs::allocate::{Collector, Hierarchy, Tlab};
use crate::scenario::{Calls, Limit, Program, Scenario, tlab_name};
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
    /// Who hands it out.
    pub collector: Collector,
    /// What survives a collection.
    pub survivors: Survivors,
    /// What collections take besides copying those.
    pub pauses: Pauses,
    /// What calls into the virtual machine take besides their accesses.
    pub calls: Calls,
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
    /// In the steady state, with all collections.
    pub objects_per_second: f64,
    /// In the steady state while nobody stops.
    pub between_collections: f64,
    /// What they cost.
    pub collections: Collections,
    /// In the steady state.
    pub heap_requests_per_second: f64,
    /// Objects in a second over those of HotSpot's growing thread buffers without levels.
    pub over_growing: f64,
    /// Objects in a second over those without levels and with the same thread buffers.
    pub over_same_tlab: f64,
    /// Bytes in all buffers when they are full.
    pub held_bytes: u64,
    /// What is used most of the machine, and how much of it.
    pub limit: Option<Limit>,
}

/// What to use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BufferPlan {
    /// `best`, if it is faster than HotSpot's own thread buffers over the whole range of the machine's numbers; else those.
    pub recommended: Row,
    /// What the agent can do best, or plain HotSpot: with the least memory of all that are at most 2 % slower than the best.
    pub best: Row,
    /// How sure it is that `best` is faster than HotSpot's own thread buffers; nothing where it is those.
    pub sure: Option<Sureness>,
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
            collector: self.collector,
            object: self.object,
            work: self.work,
            calls: self.calls,
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

/// What collections take of a candidate that allocates so many objects in a second between them.
fn collected(machine: &Machine, request: &Request, candidate: &Candidate, objects: f64) -> Collections {
    let scenario = request.scenario(0, candidate.tlab, candidate.hierarchy());
    let eden = request.eden as f64;
    let (unused, survivors) = (scenario.held(machine) as f64 / 2.0, request.survivors.share * eden);
    let mean = scenario.mutator().map_or(0.0, |mutator| mutator.mean_bytes());
    Young { eden, unused, survivors, threads: request.threads, pauses: request.pauses }
        .collections(machine, objects * mean)
}

/// Objects in a second with all collections.
fn net(objects: f64, collections: &Collections) -> f64 {
    objects * (1.0 - collections.share)
}

/// Simulates the candidates and chooses; `done` is told how many of how many simulations of a part are done.
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
    let rate = |index: usize| {
        let objects = steady[index].objects;
        net(objects, &collected(machine, request, &candidates[index], objects))
    };
    let base = |tlab: Tlab| {
        let same = |candidate: &Candidate| candidate.chain == Chain::Heap && candidate.tlab == tlab;
        candidates.iter().position(same).map_or(f64::NAN, rate)
    };
    let growing = base(Tlab::Growing);
    let row = |(index, candidate): (usize, &Candidate)| {
        let [core, l3, package] = candidate.bytes();
        let steady = &steady[index];
        Row {
            chain: candidate.chain,
            agent: candidate.chain.agent(),
            tlab: tlab_name(candidate.tlab),
            tlab_bytes: candidate.tlab.bytes(request.eden, request.threads) as u64,
            core_bytes: core,
            l3_bytes: l3,
            package_bytes: package,
            objects_per_second: rate(index),
            between_collections: steady.objects,
            collections: collected(machine, request, candidate, steady.objects),
            heap_requests_per_second: steady.heap_requests,
            over_growing: rate(index) / growing,
            over_same_tlab: rate(index) / base(candidate.tlab),
            held_bytes: scenario(candidate).held(machine),
            limit: steady.limit,
        }
    };
    let rows: Vec<Row> = candidates.iter().enumerate().map(row).collect();
    // The growing ones are always among the candidates, and first.
    let stock = rows[0].clone();
    let best = choose(rows.iter().filter(|row| row.agent)).unwrap_or(&stock).clone();
    let fixed = |chain| choose(rows.iter().skip(1).filter(move |row| row.chain == chain)).cloned();
    let chains = std::iter::once(stock.clone()).chain(Chain::ALL.into_iter().filter_map(fixed)).collect();
    let number = rows.iter().position(|row| *row == best).unwrap_or(0);
    let sure = match number {
        0 => None,
        number => Some(uncertain::sureness(machine, request, [&candidates[0], &candidates[number]], &done)?),
    };
    let wins = sure.as_ref().is_some_and(Sureness::wins);
    Ok(BufferPlan { recommended: if wins { best.clone() } else { stock }, best, sure, chains, all: rows })
}

#[cfg(test)]
#[path = "plan_test.rs"]
mod tests;
