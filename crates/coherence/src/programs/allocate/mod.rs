//! Threads that allocate: without thread buffers, with them, and with buffers of cores and processors behind them.

mod buffers;
mod heap;
mod mutator;
mod paper;
mod spaces;
mod stop;

pub use buffers::{Domain, Hierarchy, LevelCounts, Rank, SHAPE};
pub use mutator::Mutator;
pub use paper::UsedUp;
pub use spaces::Collector;

use super::{Options, Run};
use crate::constants;
use crate::machine::{Machine, Picoseconds};
use crate::simulation::{Simulation, over};
use buffers::Tables;
use heap::Heap;
pub use heap::HeapCycles;
use std::cell::Cell;
use std::io;
use stop::Stop;

/// Threads' buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tlab {
    /// None: every object is a request.
    None,
    /// So many bytes.
    Bytes(usize),
    /// What HotSpot's own sizing settles at: eden / (50 x threads), so that each thread refills 50 times between collections
    /// (`TLABRefillWasteFraction` and `target_refills` in threadLocalAllocBuffer.cpp).
    Growing,
}

impl Tlab {
    /// Bytes, in whole grains; 0 for none.
    pub fn bytes(self, eden: usize, threads: u32) -> usize {
        match self {
            Tlab::None => 0,
            Tlab::Bytes(bytes) => bytes & !7,
            Tlab::Growing => {
                (eden / (constants::TARGET_REFILLS.value as usize * threads.max(1) as usize))
                    .max(SMALLEST_TLAB)
                    & !7
            }
        }
    }
}

/// HotSpot's `MinTLABSize`, in bytes.
const SMALLEST_TLAB: usize = 2 << 10;
/// Where the simulated heap begins.
const BASE: usize = 1 << 32;

/// What is simulated.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// Threads' buffers.
    pub tlab: Tlab,
    /// What stands between them and the heap.
    pub hierarchy: Hierarchy,
    /// Eden in bytes.
    pub eden: usize,
    /// Who hands it out.
    pub collector: Collector,
    /// What threads do.
    pub mutator: Mutator,
    /// What a refill takes besides its accesses, in processor cycles: the call into the virtual machine and back.
    pub refill_cycles: f64,
    /// What a request to the shared heap takes besides its accesses, in processor cycles.
    pub heap_cycles: HeapCycles,
    /// What a collection takes, in picoseconds.
    pub pause: Picoseconds,
}

/// What it came to.
#[derive(Clone, Debug)]
pub struct Allocated {
    /// Objects, and the rest.
    pub run: Run,
    /// Bytes of objects.
    pub bytes: u64,
    /// Refills of threads' buffers.
    pub refills: u64,
    /// Requests for single objects.
    pub objects: u64,
    /// Requests that came to the shared heap.
    pub heap_requests: u64,
    /// Bytes of threads' buffers that were given up, and of G1's regions.
    pub wasted: u64,
    /// Collections.
    pub collections: u64,
    /// The levels, nearest to the threads first.
    pub levels: Vec<LevelCounts>,
}

/// What threads count together. One thread of the operating system: no atomics.
#[derive(Debug, Default)]
pub(in crate::programs::allocate) struct Counts {
    objects: Cell<u64>,
    bytes: Cell<u64>,
    refills: Cell<u64>,
    singles: Cell<u64>,
    wasted: Cell<u64>,
}

fn add(cell: &Cell<u64>, amount: u64) {
    cell.set(cell.get() + amount);
}

/// Whether new objects go to memory: an eden that the last caches of those who write it hold stays there, and a larger one has left them
/// when it comes round again. Threads that move may come to more clusters than those on which they begin.
pub fn streams(machine: &Machine, eden: usize, threads: u32, pinned: bool) -> bool {
    let shape = &machine.shape;
    let clusters =
        if pinned { shape.reached(threads).clusters } else { threads.min(shape.packages * shape.clusters) };
    eden as f64 > machine.bandwidth.last_cache * f64::from(clusters)
}

/// Runs it.
///
/// # Errors
/// When there is no memory for the threads' stacks.
pub fn run(machine: &Machine, allocation: &Allocation, options: &Options) -> io::Result<Allocated> {
    let tlab = allocation.tlab.bytes(allocation.eden, options.threads).min(allocation.collector.most());
    let heap = Heap::new(machine, allocation.collector, BASE, allocation.eden, allocation.heap_cycles);
    let tables = Tables::new(machine, &allocation.hierarchy);
    let buffers = buffers::build(machine, &allocation.hierarchy, &tables, BASE, &heap, tlab == 0);
    let stop = Stop::new(options.threads, allocation.pause);
    let counts = Counts::default();
    let collect = || {
        buffers.empty();
        heap.empty();
    };
    let mut simulation = Simulation::new(machine, options.seed, options.length, options.events);
    buffers.name(&mut simulation);
    if streams(machine, allocation.eden, options.threads, options.pinned) {
        simulation.stream(machine.bandwidth.traffic, allocation.collector.local());
    }
    for (addresses, name) in heap.lines() {
        simulation.name(addresses, name);
    }
    for thread in 0..options.threads {
        let (buffers, stop, counts, collect) = (&*buffers, &stop, &counts, &collect);
        let refill = machine.cycles(allocation.refill_cycles);
        let body = move || {
            let thread = mutator::Thread::new(machine, &allocation.mutator, buffers, tlab, refill, counts);
            thread.run(stop, collect, over);
            stop.leave(collect);
        };
        simulation.spawn(options.cpu(machine, thread), options.pinned, body)?;
    }
    let outcome = simulation.run();
    Ok(Allocated {
        run: Run::new(counts.objects.get(), heap.lost(), options, outcome),
        bytes: counts.bytes.get(),
        refills: counts.refills.get(),
        objects: counts.singles.get(),
        heap_requests: heap.requests(),
        wasted: counts.wasted.get() + heap.wasted(),
        collections: stop.collections(),
        levels: buffers.counts(),
    })
}
