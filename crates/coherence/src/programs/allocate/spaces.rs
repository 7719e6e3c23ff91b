//! How a collector hands eden out: by compare and swap on one top, or region by region.

use crate::machine::{Machine, Picoseconds};
use crate::programs::Line;
use crate::simulation::{Number, park, this, unpark, work};
use crate::watched::{AtomicU64, Ordering};
use hab::Extent;
use std::cell::{Cell, RefCell};

/// Which collector's eden it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Collector {
    /// One top for all of eden, by compare and swap.
    #[default]
    Parallel,
    /// Regions of so many bytes: by compare and swap on the top of the one that is in use, and under `Heap_lock` when it is used up.
    G1 {
        /// Bytes of a region.
        region: usize,
        /// Whether each package has a region in use, which its threads allocate from and whose memory is its own (`-XX:+UseNUMA`);
        /// otherwise there is one for all, and its memory is anywhere.
        numa: bool,
    },
}

/// HotSpot aims at so many regions of a heap.
const REGIONS: usize = 2048;
const SMALLEST_REGION: usize = 1 << 20;
const LARGEST_REGION: usize = 32 << 20;

impl Collector {
    /// G1 with the regions that HotSpot chooses for a heap; `numa`: for each package.
    pub fn g1(heap: usize, numa: bool) -> Collector {
        let region = (heap / REGIONS).max(1).next_power_of_two();
        // HotSpot rounds down.
        let region = if region > heap / REGIONS { region / 2 } else { region };
        Collector::G1 { region: region.clamp(SMALLEST_REGION, LARGEST_REGION), numa }
    }

    /// The same with the regions that HotSpot chooses for another heap.
    pub fn with_heap(self, heap: usize) -> Collector {
        match self {
            Collector::Parallel => Collector::Parallel,
            Collector::G1 { numa, .. } => Collector::g1(heap, numa),
        }
    }

    /// The most that is handed out at once: G1 gives what is larger than half a region a place of its own.
    pub const fn most(self) -> usize {
        match self {
            Collector::Parallel => usize::MAX,
            Collector::G1 { region, .. } => region / 2,
        }
    }

    /// Whether new objects are in the memory of the package whose threads write them.
    pub const fn local(self) -> bool {
        matches!(self, Collector::G1 { numa: true, .. })
    }

    /// Regions that are in use at once on a machine.
    pub const fn nodes(self, machine: &Machine) -> usize {
        if self.local() { machine.shape.packages as usize } else { 1 }
    }
}

/// `Heap_lock`: who does not get it sleeps until it is handed over.
#[derive(Debug, Default)]
struct Lock {
    word: Line<AtomicU64>,
    waiting: RefCell<Vec<Number>>,
}

impl Lock {
    /// Takes it; who has slept takes so long to wake up.
    fn lock(&self, wake: Picoseconds) {
        while self.word.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.waiting.borrow_mut().push(this());
            park();
            work(wake);
        }
    }

    fn unlock(&self) {
        self.word.0.store(0, Ordering::Release);
        let next = { self.waiting.borrow_mut().pop() };
        if let Some(next) = next {
            unpark(next);
        }
    }
}

/// Eden in regions, of which each memory node has one in use. They are dealt out to the nodes in turn, as `G1NUMA` does; a node whose own
/// are used up takes another's.
#[derive(Debug)]
pub(super) struct Regions {
    tops: Vec<Line<AtomicU64>>,
    /// By node.
    nodes: Vec<Node>,
    lock: Lock,
    start: usize,
    bytes: usize,
    /// What a request takes more than with Parallel, and how long a new region takes.
    call: Picoseconds,
    change: Picoseconds,
    wake: Picoseconds,
    changes: Cell<u64>,
    pub(super) wasted: Cell<u64>,
    pub(super) lost: Cell<u64>,
}

/// A memory node.
#[derive(Debug)]
struct Node {
    /// Its region in use, or [`NONE`].
    current: Line<AtomicU64>,
    /// The next one of those that were dealt out to it.
    next: Cell<usize>,
}

const NONE: u64 = u64::MAX;

impl Regions {
    pub(super) fn new(
        start: usize,
        eden: usize,
        region: usize,
        nodes: usize,
        [call, change, wake]: [Picoseconds; 3],
    ) -> Regions {
        let bytes = region.min(eden);
        let top = |number: usize| Line(AtomicU64::new((start + number * bytes) as u64));
        let count = (eden / bytes).max(1);
        let first = |node: usize| if node < count { node as u64 } else { NONE };
        let node =
            |node: usize| Node { current: Line(AtomicU64::new(first(node))), next: Cell::new(node + nodes) };
        Regions {
            tops: (0..count).map(top).collect(),
            nodes: (0..nodes).map(node).collect(),
            lock: Lock::default(),
            start,
            bytes,
            call,
            change,
            wake,
            changes: Cell::new(0),
            wasted: Cell::new(0),
            lost: Cell::new(0),
        }
    }

    /// `min` to `desired` bytes for a thread on a node; nothing when no region is left.
    pub(super) fn take(&self, node: usize, min: usize, desired: usize) -> Option<Extent> {
        work(self.call);
        let desired = desired.min(self.bytes / 2);
        if min > desired {
            // HotSpot gives such an object regions of its own; here it does without.
            return None;
        }
        loop {
            let current = self.nodes[node].current.0.load(Ordering::Acquire);
            if let Some(extent) = self.bump(current, min, desired) {
                return Some(extent);
            }
            self.lock.lock(self.wake);
            let more = self.change(node, current);
            self.lock.unlock();
            if !more {
                return None;
            }
        }
    }

    fn bump(&self, number: u64, min: usize, desired: usize) -> Option<Extent> {
        let number = number as usize;
        let top = self.tops.get(number)?;
        let end = self.start + (number + 1) * self.bytes;
        loop {
            let at = top.0.load(Ordering::Acquire) as usize;
            let bytes = desired.min(end - at);
            if bytes < min || bytes == 0 {
                return None;
            }
            let new = (at + bytes) as u64;
            if top.0.compare_exchange(at as u64, new, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return Some(Extent { start: at, bytes });
            }
            self.lost.set(self.lost.get() + 1);
        }
    }

    /// With the lock: puts another region in a node's used one's place, unless somebody has; says whether there is one.
    fn change(&self, node: usize, used: u64) -> bool {
        let current = &self.nodes[node].current.0;
        if current.load(Ordering::Relaxed) != used {
            return true;
        }
        // Its own ones first, then the next node's.
        let owners = (node..self.nodes.len()).chain(0..node);
        let Some(owner) =
            owners.map(|owner| &self.nodes[owner]).find(|owner| owner.next.get() < self.tops.len())
        else {
            return false;
        };
        let region = owner.next.replace(owner.next.get() + self.nodes.len());
        work(self.change);
        self.wasted.set(self.wasted.get() + self.rest(used) as u64);
        self.changes.set(self.changes.get() + 1);
        current.store(region as u64, Ordering::Release);
        true
    }

    /// What is left of a region in use.
    fn rest(&self, number: u64) -> usize {
        let number = number as usize;
        let end = self.start + (number.saturating_add(1)).saturating_mul(self.bytes);
        self.tops.get(number).map_or(0, |top| end - top.0.peek() as usize)
    }

    pub(super) fn free(&self) -> usize {
        let nodes = self.nodes.iter();
        nodes
            .map(|node| {
                let untouched = self.tops.len().saturating_sub(node.next.get()).div_ceil(self.nodes.len());
                untouched * self.bytes + self.rest(node.current.0.peek())
            })
            .sum()
    }

    /// After a collection.
    pub(super) fn empty(&self) {
        for (number, top) in self.tops.iter().enumerate() {
            top.0.store((self.start + number * self.bytes) as u64, Ordering::Release);
        }
        for (number, node) in self.nodes.iter().enumerate() {
            let first = if number < self.tops.len() { number as u64 } else { NONE };
            node.next.set(number + self.nodes.len());
            node.current.0.store(first, Ordering::Release);
        }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = (std::ops::Range<usize>, String)> + '_ {
        let current = self.nodes.iter().enumerate().map(|(number, node)| {
            let of = if self.nodes.len() > 1 { format!(" of node {number}") } else { String::new() };
            (node.current.addresses(), format!("heap: current region{of}"))
        });
        let first = self.tops.first().map_or(0, |top| top.addresses().start);
        let last = self.tops.last().map_or(0, |top| top.addresses().end);
        current.chain([
            (self.lock.word.addresses(), "heap: lock".to_owned()),
            (first..last, "heap: top".to_owned()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::simulation::Simulation;

    #[test]
    fn regions_are_those_that_hotspot_chooses() {
        let region = |heap| match Collector::g1(heap, false) {
            Collector::G1 { region, .. } => region >> 20,
            Collector::Parallel => 0,
        };
        assert_eq!([256 << 20, 4 << 30, 7 << 30, 32 << 30, 512_usize << 30].map(region), [1, 2, 2, 16, 32]);
    }

    #[test]
    fn a_region_that_is_used_up_gives_way_to_the_next_and_its_rest_is_wasted() {
        let machine = Machine::named("two-vcpu-epyc").unwrap();
        let regions = Regions::new(0, 4 << 20, 1 << 20, 1, [0, 1_000_000, 2_000_000]);
        let mut simulation = Simulation::new(&machine, 1, 1_000_000_000, 0);
        let body = || {
            let mut taken = 0;
            // Three of 300 KB fit into a region.
            while let Some(extent) = regions.take(0, 300 << 10, 300 << 10) {
                assert_eq!(extent.start >> 20, taken / 3);
                taken += 1;
            }
            assert_eq!(taken, 12);
            assert_eq!((regions.changes.get(), regions.wasted.get()), (3, 3 * (124 << 10)));
            assert_eq!(regions.take(0, 600 << 10, 600 << 10), None, "more than half a region");
            regions.empty();
            assert_eq!(regions.free(), 4 << 20);
        };
        simulation.spawn(0, true, body).unwrap();
        simulation.run();
    }

    #[test]
    fn each_node_has_its_own_regions_and_takes_anothers_when_they_are_used_up() {
        let machine = Machine::named("two-vcpu-epyc").unwrap();
        // Five regions for two nodes: 0, 2 and 4 are dealt out to the first, 1 and 3 to the second.
        let regions = Regions::new(0, 5 << 20, 1 << 20, 2, [0, 1_000_000, 2_000_000]);
        let mut simulation = Simulation::new(&machine, 1, 1_000_000_000, 0);
        let body = || {
            let half = 512 << 10;
            let region = |node| regions.take(node, half, half).map(|extent| extent.start >> 20);
            for _ in 0..2 {
                assert_eq!(regions.free(), 5 << 20);
                let all: Vec<_> = [0, 1, 0, 1, 0, 1, 1].map(region).into();
                assert_eq!(all, [0, 1, 0, 1, 2, 3, 3].map(Some));
                assert_eq!(regions.free(), half + (1 << 20), "half of 2, and 4");
                // The second node's own are used up.
                assert_eq!([1, 0, 1, 1, 0].map(region), [Some(4), Some(2), Some(4), None, None]);
                assert_eq!((regions.free(), regions.wasted.get()), (0, 0));
                regions.empty();
            }
            assert_eq!(regions.changes.get(), 2 * 3);
        };
        simulation.spawn(0, true, body).unwrap();
        simulation.run();
    }

    #[test]
    fn a_node_without_a_region_takes_one_if_there_is_one() {
        let machine = Machine::named("two-vcpu-epyc").unwrap();
        let regions = Regions::new(0, 1 << 20, 1 << 20, 2, [0, 1_000_000, 2_000_000]);
        let mut simulation = Simulation::new(&machine, 1, 1_000_000_000, 0);
        let body = || {
            assert_eq!(regions.take(1, 8, 8), None, "the only one is the first node's");
            assert_eq!(regions.take(0, 8, 8).map(|extent| extent.start), Some(0));
        };
        simulation.spawn(0, true, body).unwrap();
        simulation.run();
    }

    #[test]
    fn many_threads_get_different_bytes_and_nobody_sleeps_for_ever() {
        let machine = Machine::named("opsian-haswell").unwrap();
        let regions = Regions::new(0, 8 << 20, 1 << 20, 1, [0, 1_000_000, 2_000_000]);
        let taken = RefCell::new(Vec::new());
        let mut simulation = Simulation::new(&machine, 1, 1_000_000_000, 0);
        for cpu in 0..8 {
            let body = || {
                while let Some(extent) = regions.take(0, 4 << 10, 16 << 10) {
                    taken.borrow_mut().push(extent);
                }
            };
            simulation.spawn(cpu, true, body).unwrap();
        }
        simulation.run();
        let mut taken = taken.take();
        taken.sort_by_key(|extent| extent.start);
        assert!(taken.windows(2).all(|pair| pair[0].start + pair[0].bytes <= pair[1].start));
        assert_eq!(taken.iter().map(|extent| extent.bytes).sum::<usize>(), 8 << 20);
    }
}
