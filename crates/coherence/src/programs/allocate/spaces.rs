//! How a collector hands eden out: by compare and swap on one top, or region by region.

use crate::machine::Picoseconds;
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
    },
}

/// HotSpot aims at so many regions of a heap.
const REGIONS: usize = 2048;
const SMALLEST_REGION: usize = 1 << 20;
const LARGEST_REGION: usize = 32 << 20;

impl Collector {
    /// G1 with the regions that HotSpot chooses for a heap.
    pub fn g1(heap: usize) -> Collector {
        let region = (heap / REGIONS).max(1).next_power_of_two();
        // HotSpot rounds down.
        let region = if region > heap / REGIONS { region / 2 } else { region };
        Collector::G1 { region: region.clamp(SMALLEST_REGION, LARGEST_REGION) }
    }

    /// The most that is handed out at once: G1 gives what is larger than half a region a place of its own.
    pub const fn most(self) -> usize {
        match self {
            Collector::Parallel => usize::MAX,
            Collector::G1 { region } => region / 2,
        }
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

/// Eden in regions, of which one is in use.
#[derive(Debug)]
pub(super) struct Regions {
    tops: Vec<Line<AtomicU64>>,
    current: Line<AtomicU64>,
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

impl Regions {
    pub(super) fn new(
        start: usize,
        eden: usize,
        region: usize,
        [call, change, wake]: [Picoseconds; 3],
    ) -> Regions {
        let bytes = region.min(eden);
        let top = |number: usize| Line(AtomicU64::new((start + number * bytes) as u64));
        Regions {
            tops: (0..(eden / bytes).max(1)).map(top).collect(),
            current: Line(AtomicU64::new(0)),
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

    /// `min` to `desired` bytes; nothing when no region is left.
    pub(super) fn take(&self, min: usize, desired: usize) -> Option<Extent> {
        work(self.call);
        let desired = desired.min(self.bytes / 2);
        if min > desired {
            // HotSpot gives such an object regions of its own; here it does without.
            return None;
        }
        loop {
            let current = self.current.0.load(Ordering::Acquire) as usize;
            if let Some(extent) = self.bump(current, min, desired) {
                return Some(extent);
            }
            self.lock.lock(self.wake);
            let more = self.change(current);
            self.lock.unlock();
            if !more {
                return None;
            }
        }
    }

    fn bump(&self, number: usize, min: usize, desired: usize) -> Option<Extent> {
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

    /// With the lock: puts the next region in the used one's place, unless somebody has; says whether there is one.
    fn change(&self, used: usize) -> bool {
        if self.current.0.load(Ordering::Relaxed) as usize != used {
            return true;
        }
        if used + 1 >= self.tops.len() {
            return false;
        }
        work(self.change);
        let end = self.start + (used + 1) * self.bytes;
        self.wasted.set(self.wasted.get() + (end - self.tops[used].0.peek() as usize) as u64);
        self.changes.set(self.changes.get() + 1);
        self.current.0.store(used as u64 + 1, Ordering::Release);
        true
    }

    pub(super) fn free(&self) -> usize {
        let current = self.current.0.peek() as usize;
        let used = self.tops.get(current).map_or(0, |top| top.0.peek() as usize - self.start);
        self.tops.len() * self.bytes - used
    }

    /// After a collection.
    pub(super) fn empty(&self) {
        for (number, top) in self.tops.iter().enumerate() {
            top.0.store((self.start + number * self.bytes) as u64, Ordering::Release);
        }
        self.current.0.store(0, Ordering::Release);
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = (std::ops::Range<usize>, &'static str)> + '_ {
        let all =
            [(self.current.addresses(), "heap: current region"), (self.lock.word.addresses(), "heap: lock")];
        let first = self.tops.first().map_or(0, |top| top.addresses().start);
        let last = self.tops.last().map_or(0, |top| top.addresses().end);
        all.into_iter().chain([(first..last, "heap: top")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::simulation::Simulation;

    #[test]
    fn regions_are_those_that_hotspot_chooses() {
        let region = |heap| match Collector::g1(heap) {
            Collector::G1 { region } => region >> 20,
            Collector::Parallel => 0,
        };
        assert_eq!([256 << 20, 4 << 30, 7 << 30, 32 << 30, 512_usize << 30].map(region), [1, 2, 2, 16, 32]);
    }

    #[test]
    fn a_region_that_is_used_up_gives_way_to_the_next_and_its_rest_is_wasted() {
        let machine = Machine::named("two-vcpu-epyc").unwrap();
        let regions = Regions::new(0, 4 << 20, 1 << 20, [0, 1_000_000, 2_000_000]);
        let mut simulation = Simulation::new(&machine, 1, 1_000_000_000, 0);
        let body = || {
            let mut taken = 0;
            // Three of 300 KB fit into a region.
            while let Some(extent) = regions.take(300 << 10, 300 << 10) {
                assert_eq!(extent.start >> 20, taken / 3);
                taken += 1;
            }
            assert_eq!(taken, 12);
            assert_eq!((regions.changes.get(), regions.wasted.get()), (3, 3 * (124 << 10)));
            assert_eq!(regions.take(600 << 10, 600 << 10), None, "more than half a region");
            regions.empty();
            assert_eq!(regions.free(), 4 << 20);
        };
        simulation.spawn(0, true, body).unwrap();
        simulation.run();
    }

    #[test]
    fn many_threads_get_different_bytes_and_nobody_sleeps_for_ever() {
        let machine = Machine::named("opsian-haswell").unwrap();
        let regions = Regions::new(0, 8 << 20, 1 << 20, [0, 1_000_000, 2_000_000]);
        let taken = RefCell::new(Vec::new());
        let mut simulation = Simulation::new(&machine, 1, 1_000_000_000, 0);
        for cpu in 0..8 {
            let body = || {
                while let Some(extent) = regions.take(4 << 10, 16 << 10) {
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
