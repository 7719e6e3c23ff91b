//! A hierarchy over a heap, on atomics of either kind.

use crate::script::{BASE, Rank, Request};
use hab::atomics::Atomics;
use hab::{Counter, Counters, CpuIndex, DomainIndex, Extent, Layout, Shape, Shared, Source, State};
use std::cell::Cell;
use std::rc::Rc;

/// What a level came to: the sum of each counter, and what its buffers hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    /// By domain, in the order of `Counter::ALL`.
    pub counters: Vec<Vec<u64>>,
    /// Starts and lengths.
    pub rests: Vec<(usize, usize)>,
}

impl Sums {
    /// The sum over all domains of one or more counters, by their numbers.
    pub fn sum(&self, counters: &[usize]) -> u64 {
        self.counters.iter().map(|domain| counters.iter().map(|&number| domain[number]).sum::<u64>()).sum()
    }

    pub fn remaining(&self) -> u64 {
        self.rests.iter().map(|(_, bytes)| *bytes as u64).sum()
    }
}

/// What everything came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub levels: Vec<Sums>,
    /// Bytes that the heap handed out, and that it got back as tails.
    pub heap: (u64, u64),
}

/// A top, and what passes the time while it is moved.
struct Heap {
    top: Cell<usize>,
    end: usize,
    retired: Cell<usize>,
    at_work: fn(),
}

impl Source for Heap {
    fn acquire(&self, _: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        (self.at_work)();
        let start = self.top.get();
        let bytes = desired.min(self.end - start);
        if bytes < min {
            return None;
        }
        self.top.set(start + bytes);
        Some(Extent { start, bytes })
    }

    fn available(&self, _: CpuIndex) -> usize {
        self.end - self.top.get()
    }

    fn retire(&self, tail: Extent) {
        self.retired.set(self.retired.get() + tail.bytes);
    }
}

#[derive(Clone)]
struct Above<'a>(Rc<dyn Source + 'a>);

impl Source for Above<'_> {
    fn acquire(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        self.0.acquire(cpu, min, desired)
    }

    fn available(&self, cpu: CpuIndex) -> usize {
        self.0.available(cpu)
    }

    fn retire(&self, tail: Extent) {
        self.0.retire(tail);
    }
}

/// The counters of all domains of all levels.
pub fn tables<M: Atomics>(ranks: &[Rank]) -> Vec<Vec<Counters<M>>> {
    let table = |rank: &Rank| (0..rank.domains()).map(|_| Counters::default()).collect();
    ranks.iter().map(table).collect()
}

type Level<'a, M> = hab::Level<'a, Shared, Above<'a>, M>;

pub struct Hierarchy<'a, M: Atomics> {
    levels: Vec<Rc<Level<'a, M>>>,
    heap: Rc<Heap>,
}

impl<'a, M: Atomics> Hierarchy<'a, M> {
    pub fn new(
        ranks: &[Rank],
        tables: &'a [Vec<Counters<M>>],
        heap: usize,
        at_work: fn(),
    ) -> Hierarchy<'a, M> {
        let top = Cell::new(BASE);
        let heap = Rc::new(Heap { top, end: BASE + heap, retired: Cell::new(0), at_work });
        let mut upper: Rc<dyn Source + 'a> = Rc::clone(&heap) as _;
        let mut levels = Vec::new();
        for (rank, table) in ranks.iter().zip(tables).rev() {
            let layout = Layout {
                domain_of_cpu: rank.domain_of_cpu.iter().map(|&domain| DomainIndex(domain)).collect(),
                group_of_domain: rank.group_of_domain.clone().into(),
                exclusive: if rank.domain_of_cpu.len() > rank.domains() { 0 } else { rank.domains() },
            };
            let shape = Shape { grain_shift: 3, min_remainder: 16 };
            let level = Rc::new(Level::new(BASE, shape, rank.bytes, layout, table, Above(upper)));
            upper = Rc::clone(&level) as _;
            levels.insert(0, level);
        }
        Hierarchy { levels, heap }
    }

    /// What a request got: start and length, or the bytes that are said to be there.
    pub fn serve(&self, request: Request) -> Option<(usize, usize)> {
        let lowest = &self.levels[0];
        let extent = match request {
            Request::Buffer { cpu, min, desired } => {
                lowest.allocate(CpuIndex(cpu), hab::Request::buffer(min, desired))
            }
            Request::Carve { cpu, bytes } => lowest.allocate(CpuIndex(cpu), hab::Request::object(bytes)),
            Request::Object { cpu, bytes } => {
                lowest.allocate(CpuIndex(cpu), hab::Request::object_with_refill(bytes))
            }
            Request::Tails { cpu, bytes } => {
                lowest.allocate(CpuIndex(cpu), hab::Request::object_from_tails(bytes))
            }
            Request::Available { cpu } => {
                return Some((lowest.available(CpuIndex(cpu)), lowest.rest(CpuIndex(cpu))));
            }
            Request::Moved { from, to } => {
                lowest.count_migration(CpuIndex(from), CpuIndex(to));
                None
            }
            Request::Retire { level } => {
                self.levels[level % self.levels.len()].retire_buffers();
                None
            }
            Request::Resize { level, bytes } => {
                self.levels[level % self.levels.len()].resize(bytes);
                None
            }
        };
        extent.map(|extent| (extent.start, extent.bytes))
    }

    pub fn account(&self) -> Account {
        let counters = |domain: &Counters<M>| Counter::ALL.map(|counter| domain.get(counter)).to_vec();
        let rest = |state| match state {
            State::Free(free) => Some((free.start, free.bytes)),
            State::Empty => None,
            State::Refilling => panic!("nobody refills any more"),
        };
        let level = |level: &Rc<Level<'a, M>>| Sums {
            counters: level.counters().iter().map(counters).collect(),
            rests: level.states().filter_map(rest).collect(),
        };
        let handed_out = self.heap.top.get() - BASE;
        Account {
            levels: self.levels.iter().map(level).collect(),
            heap: (handed_out as u64, self.heap.retired.get() as u64),
        }
    }
}
