//! Programs of operations on a hierarchy, and their execution against a sequential model of who owns which bytes.
//!
//! Shared by the property tests and the fuzz target: both draw [`Numbers`], everything else is here.
//!
//! After each operation these equations hold (sums over the domains of a level):
//!
//! ```text
//! each level:     RefillBytes = BufferBytes + ObjectBytes + StolenBytes              allocated
//!                             + WasteRefill + WasteCollection + WasteAlignment       waste
//!                             + the rests of all buffers                             remaining
//! lowest level:   BufferBytes + ObjectBytes + StolenBytes + DirectBytes = handed out to the program
//! between levels: RefillBytes + DirectBytes of the lower = BufferBytes + StolenBytes + DirectBytes of the upper
//! highest level:  RefillBytes + DirectBytes = handed out by the heap
//! heap:           all bytes = handed out to the program + retired + in buffers + untouched
//! ```
//!
//! Stolen bytes are counted in the domain that got them, so the first equation is one of a level, not of a domain. While a refill
//! is under way, its extent is reserved and not yet remaining.

mod heap;

use heap::Heap;
use std::fmt::Debug;
use terrace_hab::{
    Access, Counter, Counters, CpuIndex, DomainIndex, Extent, Layout, Level, Private, Request, Shape, Shared,
    Source, State,
};

/// What a program is made of: the machine's shape, then the operations.
pub type Numbers = ([u8; 8], Vec<(u8, u8, u16, u16)>);

/// A machine and what happens on it. Sizes are in grains.
#[derive(Clone, Debug)]
pub struct Program {
    shape: Shape,
    domains: u16,
    /// Whether there is a second level, of half as many domains.
    four_levels: bool,
    /// Whether buffers are changed by plain stores.
    private: bool,
    /// Whether a full heap collects, or refuses.
    collecting: bool,
    heap: usize,
    /// The heap's regions, or the whole heap.
    region: usize,
    size: usize,
    upper_size: usize,
    operations: Vec<Operation>,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Allocate {
        cpu: CpuIndex,
        min: usize,
        desired: usize,
    },
    CarveObject {
        cpu: CpuIndex,
        bytes: usize,
    },
    AllocateObject {
        cpu: CpuIndex,
        bytes: usize,
    },
    Retire {
        level: usize,
    },
    Resize {
        level: usize,
        size: usize,
    },
    Exhaust {
        leave: usize,
    },
    Collect,
    /// Another thread's collection comes while this one waits in the heap.
    CollectDuringNextAcquire,
}

impl Program {
    /// Every row of numbers is a program.
    pub fn new(numbers: &Numbers) -> Program {
        let [grain, remainder, kind, domains, heap, region, size, upper_size] = numbers.0.map(usize::from);
        let shift = 3 + grain as u32 % 6;
        let heap = 64 + heap * 16;
        let operations = numbers.1.iter().map(|&numbers| Operation::new(numbers, shift)).collect();
        Program {
            shape: Shape { grain_shift: shift, min_remainder: (1 + remainder % 3) << shift },
            domains: 1 + domains as u16 % 4,
            four_levels: kind & 1 != 0,
            private: kind & 2 != 0,
            collecting: kind & 4 != 0,
            heap,
            region: if kind & 8 != 0 { 24 + region } else { heap },
            size,
            upper_size: upper_size * 2,
            operations,
        }
    }

    /// Runs the program. Panics where the hierarchy breaks a rule.
    pub fn run(&self) {
        if self.private { self.run_with::<Private>() } else { self.run_with::<Shared>() }
    }

    fn run_with<A: Access + Debug>(&self) {
        let shift = self.shape.grain_shift;
        let (heap_bytes, region) = (self.heap << shift, self.region << shift);
        let outer = counters(self.domains.div_ceil(2));
        let inner = counters(self.domains);
        let heap = Heap::new(self.shape, heap_bytes, region);
        let (size, upper_size) = (self.size << shift, self.upper_size << shift);
        let layout = |domains| layout(domains, self.domains.div_ceil(domains) * 2);
        if self.four_levels {
            let domains = self.domains.div_ceil(2);
            let upper: Level<A, _> =
                Level::new(heap::BASE, self.shape, upper_size, layout(domains), &outer, &heap);
            let level: Level<A, _> =
                Level::new(heap::BASE, self.shape, size, layout(self.domains), &inner, &upper);
            let retire = || [&level as &dyn Rank, &upper].into_iter().for_each(Rank::retire);
            heap.collect_with(&retire, self.collecting);
            Run { program: self, heap: &heap, ranks: &[&level, &upper] }.all();
        } else {
            let level: Level<A, _> =
                Level::new(heap::BASE, self.shape, size, layout(self.domains), &inner, &heap);
            let retire = || Rank::retire(&level);
            heap.collect_with(&retire, self.collecting);
            Run { program: self, heap: &heap, ranks: &[&level] }.all();
        }
    }
}

/// Two CPUs to a domain at most; groups of two domains.
fn layout(domains: u16, cpus_of_domain: u16) -> Layout {
    Layout {
        domain_of_cpu: (0..domains * cpus_of_domain).map(|cpu| DomainIndex(cpu / cpus_of_domain)).collect(),
        group_of_domain: (0..domains).map(|domain| domain / 2).collect(),
        exclusive: if domains.is_multiple_of(2) { 0 } else { usize::from(domains) },
    }
}

fn counters(domains: u16) -> Vec<Counters> {
    (0..domains).map(|_| Counters::default()).collect()
}

impl Operation {
    fn new((kind, cpu, first, second): (u8, u8, u16, u16), shift: u32) -> Operation {
        let (first, second) = (usize::from(first), usize::from(second));
        // Some CPUs are beyond the table.
        let cpu = CpuIndex(u32::from(cpu) % 11);
        let bytes = (1 + first % if first & 0x100 == 0 { 64 } else { 4 }) << shift;
        match kind % 32 {
            0..16 => Operation::Allocate { cpu, min: bytes, desired: bytes + ((second % 64) << shift) },
            16..19 => Operation::Allocate { cpu, min: bytes, desired: bytes },
            19..22 => Operation::CarveObject { cpu, bytes },
            22..25 => Operation::AllocateObject { cpu, bytes },
            25..27 => Operation::Retire { level: first % 2 },
            27..29 => Operation::Resize { level: first % 2, size: (second % 512) << shift },
            29 => Operation::Exhaust { leave: (first % 64) << shift },
            30 => Operation::CollectDuringNextAcquire,
            _ => Operation::Collect,
        }
    }
}

/// A level without its type.
trait Rank {
    fn allocate(&self, cpu: CpuIndex, request: Request) -> Option<Extent>;
    fn retire(&self);
    fn resize(&self, size: usize);
    fn serves(&self, desired: usize) -> bool;
    fn tails(&self) -> Vec<Extent>;
    fn sum(&self, counters: &[Counter]) -> usize;
}

impl<A: Access, S: Source> Rank for Level<'_, A, S> {
    fn allocate(&self, cpu: CpuIndex, request: Request) -> Option<Extent> {
        self.allocate(cpu, request)
    }

    fn retire(&self) {
        self.retire_buffers();
    }

    fn resize(&self, size: usize) {
        self.resize(size);
    }

    /// Whether a refused request must have looked at every buffer.
    fn serves(&self, desired: usize) -> bool {
        A::SHARED && desired * 2 <= self.size()
    }

    fn tails(&self) -> Vec<Extent> {
        let tail = |state| match state {
            State::Empty => None,
            State::Refilling => panic!("no refill is under way between two operations"),
            State::Free(tail) => Some(tail),
        };
        self.states().filter_map(tail).collect()
    }

    fn sum(&self, counters: &[Counter]) -> usize {
        let all =
            self.counters().iter().flat_map(|domain| counters.iter().map(|&counter| domain.get(counter)));
        all.sum::<u64>() as usize
    }
}

const WASTE: [Counter; 3] = [Counter::WasteRefill, Counter::WasteCollection, Counter::WasteAlignment];
const SERVED: [Counter; 3] = [Counter::BufferBytes, Counter::ObjectBytes, Counter::StolenBytes];
const FROM_ABOVE: [Counter; 2] = [Counter::RefillBytes, Counter::DirectBytes];

struct Run<'r> {
    program: &'r Program,
    heap: &'r Heap<'r>,
    /// Lowest first.
    ranks: &'r [&'r dyn Rank],
}

impl Run<'_> {
    fn all(self) {
        let mut handed_out = 0;
        for &operation in &self.program.operations {
            handed_out += self.step(operation).map_or(0, |extent| extent.bytes);
            self.check_bytes();
            self.check_counters(handed_out);
        }
        self.ranks.iter().for_each(|rank| rank.retire());
        self.check_bytes();
        assert!(self.ranks.iter().all(|rank| rank.tails().is_empty()), "retirement empties every buffer");
    }

    fn step(&self, operation: Operation) -> Option<Extent> {
        let (lowest, heap) = (self.ranks[0], self.heap);
        let level = |level: usize| level % self.ranks.len();
        let (bounds, extent) = match operation {
            Operation::Allocate { cpu, min, desired } => ((min, desired), self.allocate(cpu, min, desired)),
            Operation::CarveObject { cpu, bytes } => {
                ((bytes, bytes), lowest.allocate(cpu, Request::object(bytes)))
            }
            Operation::AllocateObject { cpu, bytes } => {
                heap.expect_no_collection();
                ((bytes, bytes), lowest.allocate(cpu, Request::object_with_refill(bytes)))
            }
            other => {
                match other {
                    Operation::Retire { level: asked } => self.ranks[level(asked)].retire(),
                    Operation::Resize { level: asked, size } => self.ranks[level(asked)].resize(size),
                    Operation::Exhaust { leave } => heap.exhaust(leave),
                    Operation::CollectDuringNextAcquire => heap.collect_during_next_acquire(),
                    _ => {
                        self.ranks.iter().for_each(|rank| rank.retire());
                        heap.reset();
                    }
                }
                return None;
            }
        };
        let extent = extent?;
        assert!((bounds.0..=bounds.1).contains(&extent.bytes), "{extent:?} for {operation:?}");
        heap.own(extent);
        Some(extent)
    }

    fn allocate(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        let (lowest, heap) = (self.ranks[0], self.heap);
        let possible = heap.could_serve(min);
        heap.expect_request(min, desired);
        let extent = lowest.allocate(cpu, Request::buffer(min, desired));
        if extent.is_none() {
            assert!(!possible, "refused what the heap could serve");
            if lowest.serves(desired) {
                let fits = |tail: &Extent| self.program.shape.cut(tail.bytes, min, desired) > 0;
                assert!(!lowest.tails().iter().any(fits), "refused what a buffer could serve");
            }
        }
        extent
    }

    /// Each byte has one owner, and none is lost.
    fn check_bytes(&self) {
        let mut remaining = 0;
        for rank in self.ranks {
            let tails = rank.tails();
            for (index, &tail) in tails.iter().enumerate() {
                self.heap.check_free(tail);
                let others = &tails[index + 1..];
                assert!(others.iter().all(|other| other.end() <= tail.start || tail.end() <= other.start));
                remaining += tail.bytes;
            }
        }
        assert_eq!(self.heap.reserved(), self.heap.owned() + remaining, "every reserved byte has an owner");
    }

    fn check_counters(&self, handed_out: usize) {
        for rank in self.ranks {
            let remaining: usize = rank.tails().iter().map(|tail| tail.bytes).sum();
            let reserved = rank.sum(&[Counter::RefillBytes]);
            assert_eq!(reserved, rank.sum(&SERVED) + rank.sum(&WASTE) + remaining);
        }
        let mut below = handed_out;
        for rank in self.ranks {
            assert_eq!(below, rank.sum(&SERVED) + rank.sum(&[Counter::DirectBytes]));
            below = rank.sum(&FROM_ABOVE);
        }
        assert_eq!(below, self.heap.handed_out());
        let waste: usize = self.ranks.iter().map(|rank| rank.sum(&WASTE)).sum();
        assert_eq!(waste, self.heap.retired());
    }
}
