//! What came of a simulation, in units that people ask for.

use super::{Roofline, Scenario, domains_in_use, tlab_name};
use crate::machine::Machine;
use crate::programs::Run;
use crate::programs::allocate::{Allocated, LevelCounts};
use hab::Counter;
use serde::Serialize;
use std::collections::BTreeMap;

/// What came of a simulation. All of it follows from the scenario, the machine and the seed: nothing is measured on the machine
/// on which it was simulated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The program's name.
    pub program: &'static str,
    /// Threads.
    pub threads: u32,
    /// Simulated time, in seconds, until the last thread's end.
    pub seconds: f64,
    /// Increments or objects.
    pub operations: u64,
    /// Those of all threads in a second.
    pub per_second: f64,
    /// Those of one thread in a second.
    pub per_second_per_thread: f64,
    /// Compare and swaps that failed for each that succeeded: those of the counter, or of the heap's top.
    pub retries_per_success: f64,
    /// Moves of lines between cores, or from memory, for each operation.
    pub transfers_per_operation: f64,
    /// Those of them out of a cache that had modified the line.
    pub modified_transfers_per_operation: f64,
    /// Time spent waiting for lines and moving them, over the time of all threads. Plain stores do not have their thread wait, so
    /// it may be above what threads lost.
    pub line_share: f64,
    /// What bounds it, and by how much.
    pub roofline: Roofline,
    /// Times that a thread was moved to another CPU.
    pub migrations: u64,
    /// Times that a thread had to leave its CPU to another one.
    pub preemptions: u64,
    /// For programs that allocate.
    pub buffers: Option<Buffers>,
}

/// What happened to buffers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Buffers {
    /// Threads' buffers as they were asked for: `none`, `growing` or a size.
    pub tlab: String,
    /// Bytes of a thread's buffer; 0 for none.
    pub tlab_bytes: u64,
    /// Eden in bytes.
    pub eden_bytes: u64,
    /// Bytes in all buffers when they are full.
    pub held_bytes: u64,
    /// Bytes of objects.
    pub allocated_bytes: u64,
    /// Refills of threads' buffers.
    pub refills: u64,
    /// Objects that were placed outside of threads' buffers.
    pub single_objects: u64,
    /// Requests that came to the heap.
    pub heap_requests: u64,
    /// Those in a second.
    pub heap_requests_per_second: f64,
    /// Bytes of threads' buffers that were given up.
    pub wasted_bytes: u64,
    /// Collections.
    pub collections: u64,
    /// The levels, nearest to the threads first.
    pub levels: Vec<Level>,
}

/// One level of buffers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// Who shares a buffer: core, L3 or package.
    pub name: String,
    /// Bytes of a buffer.
    pub bytes: u64,
    /// Buffers on the machine.
    pub domains: u64,
    /// Buffers of domains on which threads begin.
    pub domains_in_use: u64,
    /// Requests, whoever served them.
    pub requests: u64,
    /// Those of them that were served while the thread had left the domain, of all.
    pub foreign_share: f64,
    /// Those that another domain's buffer served, of all.
    pub stolen_share: f64,
    /// Those that were passed on, of all.
    pub direct_share: f64,
    /// All counters by name, summed over the domains.
    pub counters: BTreeMap<&'static str, u64>,
    /// Bytes in buffers at the end.
    pub remaining_bytes: u64,
}

/// A part of a whole; none of nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl Measured {
    pub(super) fn of_counter(scenario: &Scenario, machine: &Machine, run: &Run) -> Measured {
        Measured::of(scenario, machine, run, run.operations)
    }

    pub(super) fn of_allocation(scenario: &Scenario, machine: &Machine, allocated: &Allocated) -> Measured {
        let mut measured = Measured::of(scenario, machine, &allocated.run, allocated.heap_requests);
        let level = |(counts, rank): (&LevelCounts, &crate::programs::allocate::Rank)| {
            let get = |counter| counts.get(counter);
            let requests =
                get(Counter::Buffers) + get(Counter::Objects) + get(Counter::Stolen) + get(Counter::Direct);
            Level {
                name: counts.name.clone(),
                bytes: rank.bytes as u64,
                domains: rank.domain.count(machine) as u64,
                domains_in_use: domains_in_use(machine, rank.domain, scenario.threads) as u64,
                requests,
                foreign_share: share(get(Counter::Foreign), requests),
                stolen_share: share(get(Counter::Stolen), requests),
                direct_share: share(get(Counter::Direct), requests),
                counters: counts.counters.iter().copied().collect(),
                remaining_bytes: counts.remaining,
            }
        };
        measured.buffers = Some(Buffers {
            tlab: tlab_name(scenario.tlab),
            tlab_bytes: scenario.tlab.bytes(scenario.eden, scenario.threads) as u64,
            eden_bytes: scenario.eden as u64,
            held_bytes: scenario.held(machine),
            allocated_bytes: allocated.bytes,
            refills: allocated.refills,
            single_objects: allocated.objects,
            heap_requests: allocated.heap_requests,
            heap_requests_per_second: allocated.heap_requests as f64 / measured.seconds,
            wasted_bytes: allocated.wasted,
            collections: allocated.collections,
            levels: allocated.levels.iter().zip(scenario.ranks()).map(level).collect(),
        });
        measured
    }

    /// `successes`: of the compare and swaps that the run counts as lost where they fail.
    fn of(scenario: &Scenario, machine: &Machine, run: &Run, successes: u64) -> Measured {
        let total = run.outcome.traffic.total();
        let per_second = run.per_second();
        let all_threads = run.length as f64 * f64::from(run.threads);
        Measured {
            program: scenario.program.name(),
            threads: run.threads,
            seconds: run.length as f64 * 1e-12,
            operations: run.operations,
            per_second,
            per_second_per_thread: per_second / f64::from(run.threads),
            retries_per_success: share(run.lost, successes),
            transfers_per_operation: share(total.moves(), run.operations),
            modified_transfers_per_operation: share(total.modified, run.operations),
            line_share: total.cost() as f64 / all_threads,
            roofline: Roofline::of(machine, scenario.mutator().as_ref(), run),
            migrations: run.outcome.migrations,
            preemptions: run.outcome.preemptions,
            buffers: None,
        }
    }
}
