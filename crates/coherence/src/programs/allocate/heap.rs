//! The simulated heap: one top that all threads share, or regions with one each.

use super::spaces::{Collector, Regions};
use crate::constants;
use crate::machine::{Machine, Picoseconds};
use crate::programs::Line;
use crate::simulation::work;
use crate::watched::{AtomicU64, Ordering};
use hab::{CpuIndex, Extent, Source};
use std::cell::Cell;
use std::ops::Range;

/// What requests to the heap take besides their accesses, in processor cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeapCycles {
    /// A request.
    pub request: f64,
    /// What it takes more with G1.
    pub g1: f64,
    /// How long G1 holds `Heap_lock` for a new region.
    pub region: f64,
}

impl From<f64> for HeapCycles {
    /// A request of so many cycles; with G1 what is usual there.
    fn from(request: f64) -> HeapCycles {
        HeapCycles { request, g1: constants::G1_REQUEST.value, region: constants::G1_REGION.value }
    }
}

/// Eden, as HotSpot's parallel collector hands it out, by compare and swap on its top; or G1's regions.
#[derive(Debug)]
pub struct Heap {
    top: Line<AtomicU64>,
    /// Read with each request, written by nobody.
    end: Line<AtomicU64>,
    start: usize,
    end_address: usize,
    /// What it takes to come here and back, besides the accesses.
    call: Picoseconds,
    regions: Option<Regions>,
    /// The memory node of each CPU.
    node_of_cpu: Vec<usize>,
    lost: Cell<u64>,
    requests: Cell<u64>,
}

impl Heap {
    /// A collector's heap of `bytes` behind address `start`; its requests take `cycles` besides their accesses.
    pub fn new(
        machine: &Machine,
        collector: Collector,
        start: usize,
        bytes: usize,
        cycles: HeapCycles,
    ) -> Heap {
        let [request, region] = [cycles.g1, cycles.region].map(|cycles| machine.cycles(cycles));
        let times = [request, region, machine.costs.switch];
        let regions = match collector {
            Collector::Parallel => None,
            Collector::G1 { region, .. } => {
                Some(Regions::new(start, bytes, region, collector.nodes(machine), times))
            }
        };
        let node = |cpu| if collector.local() { machine.shape.package_of(cpu) as usize } else { 0 };
        Heap {
            top: Line(AtomicU64::new(start as u64)),
            end: Line(AtomicU64::new((start + bytes) as u64)),
            start,
            end_address: start + bytes,
            call: machine.cycles(cycles.request),
            regions,
            node_of_cpu: (0..machine.shape.cpus()).map(node).collect(),
            lost: Cell::new(0),
            requests: Cell::new(0),
        }
    }

    /// Where what all threads share lies in memory, with names.
    pub fn lines(&self) -> Vec<(Range<usize>, String)> {
        match &self.regions {
            None => {
                vec![(self.top.addresses(), "heap: top".into()), (self.end.addresses(), "heap: end".into())]
            }
            Some(regions) => regions.lines().collect(),
        }
    }

    /// Compare and swaps that found another value.
    pub fn lost(&self) -> u64 {
        self.lost.get() + self.regions.as_ref().map_or(0, |regions| regions.lost.get())
    }

    /// Bytes of regions that were left for the next one.
    pub fn wasted(&self) -> u64 {
        self.regions.as_ref().map_or(0, |regions| regions.wasted.get())
    }

    /// Requests.
    pub fn requests(&self) -> u64 {
        self.requests.get()
    }

    /// Bytes handed out since the last [`Heap::empty`].
    pub fn used(&self) -> usize {
        // Not by the simulated word: nobody pays for this look.
        self.top.0.peek() as usize - self.start
    }

    /// `min` to `desired` bytes from the top, or from the region of a CPU's node.
    fn take(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        self.requests.set(self.requests.get() + 1);
        if let Some(regions) = &self.regions {
            return regions.take(self.node_of_cpu[cpu.0 as usize], min, desired);
        }
        loop {
            let at = self.top.0.load(Ordering::Acquire);
            let end = self.end.0.load(Ordering::Relaxed);
            let bytes = desired.min((end - at) as usize);
            if bytes < min || bytes == 0 {
                return None;
            }
            let new = at + bytes as u64;
            if self.top.0.compare_exchange(at, new, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return Some(Extent { start: at as usize, bytes });
            }
            self.lost.set(self.lost.get() + 1);
        }
    }

    /// After a collection: all of it is free again. All threads wait.
    pub fn empty(&self) {
        if let Some(regions) = &self.regions {
            regions.empty();
        }
        self.top.0.store(self.start as u64, Ordering::Release);
    }
}

impl Source for &Heap {
    fn acquire(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        work(self.call);
        self.take(cpu, min, desired)
    }

    fn available(&self, _: CpuIndex) -> usize {
        match &self.regions {
            Some(regions) => regions.free(),
            None => self.end_address - self.start - self.used(),
        }
    }

    fn retire(&self, _: Extent) {}
}
