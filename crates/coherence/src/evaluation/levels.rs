//! The four-level hierarchy, the paper's future work: when does a processor level over the cores' buffers pay?

use super::paper::mutator;
use crate::constants;
use crate::machine::Machine;
use crate::programs::Options;
use crate::programs::allocate::{self, Allocation, Collector, Domain, Hierarchy, Rank, Tlab};
use crate::scenario::{Limit, Roofline};
use serde::Serialize;
use std::io;

/// One point: how much faster each hierarchy is than thread buffers alone.
#[derive(Clone, Debug, Serialize)]
pub struct LevelsRow {
    /// Threads.
    pub threads: u32,
    /// A core buffer's bytes.
    pub core_bytes: usize,
    /// How many times as much the threads allocate as `javac` does.
    pub intensity: f64,
    /// Two levels (thread, heap): million objects a second.
    pub two: f64,
    /// Three levels (thread, core, heap).
    pub three: f64,
    /// Four levels (thread, core, L3, heap).
    pub four_cluster: f64,
    /// Four levels (thread, core, package, heap).
    pub four_package: f64,
    /// What is used most of the machine, in the order of these four.
    pub limits: [Option<Limit>; 4],
    /// Requests to the heap in a second with three levels, in millions.
    pub heap_requests: f64,
    /// Part of all threads' time for which they wait for the heap's lines, with three levels.
    pub waiting: f64,
}

const KB: usize = 1 << 10;
/// A thread's buffer: small, as the buffers behind it are to make possible.
const TLAB: Tlab = Tlab::Bytes(4 * KB);
/// A buffer of an L3 or a package for each core buffer in it, times this.
const PROCESSOR_PER_CORE: usize = 4;
const EDEN: usize = 64 << 30;
/// Simulated time in picoseconds.
const LENGTH: u64 = 2_000_000_000;

/// Goes through sizes of core buffers and rates of allocation on a machine with all its CPUs busy.
///
/// # Errors
/// When there is no memory for the threads' stacks.
pub fn when_a_processor_level_pays(
    machine: &Machine,
    core_sizes: &[usize],
    intensities: &[f64],
    progress: &dyn Fn(&str),
) -> io::Result<Vec<LevelsRow>> {
    let threads = machine.shape.cpus();
    let mut rows = Vec::new();
    for &core_bytes in core_sizes {
        for &intensity in intensities {
            progress(&format!("core buffers of {} KB, {intensity} x javac", core_bytes / KB));
            let core = Rank { domain: Domain::Core, bytes: core_bytes };
            let cores = |domain: Domain| {
                let domains = domain.of(machine, threads - 1) + 1;
                (machine.shape.cores() / domains) as usize
            };
            let over = |domain| {
                let bytes = core_bytes * cores(domain) * PROCESSOR_PER_CORE;
                Hierarchy::Levels(vec![core, Rank { domain, bytes }])
            };
            let mut mutator = mutator();
            mutator.object_cycles /= intensity;
            let run = |hierarchy| {
                let allocation = Allocation {
                    tlab: TLAB,
                    hierarchy,
                    eden: EDEN,
                    collector: Collector::Parallel,
                    mutator: mutator.clone(),
                    refill_cycles: constants::REFILL.value,
                    heap_cycles: constants::HEAP.value.into(),
                    pause: 0,
                };
                let options = Options { threads, pinned: true, seed: 1, length: LENGTH, events: 0 };
                allocate::run(machine, &allocation, &options)
            };
            let millions = |allocated: &allocate::Allocated| allocated.run.per_second() / 1e6;
            let limit = |allocated: &allocate::Allocated| {
                Roofline::of(machine, Some(&mutator), &allocated.run).first().copied()
            };
            let two = run(Hierarchy::None)?;
            let (cluster, package) = (run(over(Domain::Cluster))?, run(over(Domain::Package))?);
            let three = run(Hierarchy::Levels(vec![core]))?;
            let waited: u64 = (three.run.outcome.traffic.lines.iter())
                .filter(|line| line.name.starts_with("heap"))
                .map(crate::memory::LineTraffic::cost)
                .sum();
            rows.push(LevelsRow {
                threads,
                core_bytes,
                intensity,
                two: millions(&two),
                three: millions(&three),
                four_cluster: millions(&cluster),
                four_package: millions(&package),
                limits: [&two, &three, &cluster, &package].map(limit),
                heap_requests: three.heap_requests as f64 / (three.run.length as f64 * 1e-12) / 1e6,
                waiting: waited as f64 / (three.run.length as f64 * f64::from(threads)),
            });
        }
    }
    Ok(rows)
}
