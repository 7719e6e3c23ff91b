//! What stands between threads and the reserve.

mod rests;

use crate::grain::{GRAIN, GRAIN_SHIFT, MOST_ALIGNED, aligned, most_skipped};
use crate::ground::Ground;
use crate::owned::Owned;
use crate::percpu::{self, Fast, Happened, PerCpu};
use crate::reserve::{Position, Reserve};
use crate::sequence::Area;
use hab::{Counter, Counters, CpuIndex, DomainIndex, Extent, Layout, Level, Request, Shape, Shared, Source};
pub(crate) use rests::Rest;
use topology::{CpuSource, DomainKind, DomainMap};

const SHAPE: Shape = Shape { grain_shift: GRAIN_SHIFT, min_remainder: 0 };

/// What core buffers are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// Restartable sequences.
    Sequences(Area),
    /// Compare and swap on a core's buffer.
    Exchange,
}

/// The reserve, or processor buffers over it.
#[derive(Debug)]
pub(crate) enum Upper {
    Reserve(&'static Reserve),
    /// The level refers to its counters, which are dropped after it.
    Processor(Level<'static, Shared, &'static Reserve>, Owned<Box<[Counters]>>),
}

impl Source for Upper {
    #[inline]
    fn acquire(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        match self {
            Upper::Reserve(reserve) => reserve.acquire(cpu, min, desired),
            Upper::Processor(level, _) => level.allocate(cpu, Request::buffer(min, desired)),
        }
    }

    fn available(&self, cpu: CpuIndex) -> usize {
        match self {
            Upper::Reserve(reserve) => reserve.available(cpu),
            Upper::Processor(level, _) => level.available(cpu),
        }
    }

    fn retire(&self, _tail: Extent) {}
}

#[derive(Debug)]
enum Nearest {
    Upper(Upper),
    Sequences(PerCpu, Upper),
    /// As [`Upper::Processor`].
    Exchange(Level<'static, Shared, Upper>, Owned<Box<[Counters]>>),
}

/// All levels of an arena.
#[derive(Debug)]
pub(crate) struct Levels {
    nearest: Nearest,
    source: CpuSource,
    /// Last: the levels refer to it.
    reserve: Owned<Reserve>,
}

/// Sizes of buffers in bytes; `None` for a level that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) core: Option<usize>,
    pub(crate) processor: Option<usize>,
}

fn layout(map: &DomainMap, ground: &Ground) -> Layout {
    Layout {
        domain_of_cpu: (0..ground.machine.table_len())
            .map(|id| DomainIndex(map.of(topology::CpuId(id)).0))
            .collect(),
        group_of_domain: (0..map.count())
            .map(|index| map.group(topology::DomainIndex(index as u16)))
            .collect(),
        exclusive: map.exclusive(),
    }
}

/// A level of buffers of `size` bytes over `upper`, and its counters.
fn level<S: Source>(
    base: usize,
    size: usize,
    map: &DomainMap,
    ground: &Ground,
    upper: S,
) -> (Level<'static, Shared, S>, Owned<Box<[Counters]>>) {
    let counters = Owned::new((0..map.count()).map(|_| Counters::default()).collect::<Box<[_]>>());
    // SAFETY: both callers keep the counters in a field behind the level, which is dropped after it.
    let forever = unsafe { counters.forever() };
    (Level::new(base, SHAPE, size, layout(map, ground), forever, upper), counters)
}

impl Levels {
    pub(crate) fn new(reserve: Reserve, sizes: Sizes, way: Way, ground: &Ground) -> Levels {
        let reserve = Owned::new(reserve);
        let base = reserve.get().base();
        // SAFETY: the field is declared behind `nearest`, and so dropped after it.
        let shared = unsafe { reserve.forever() };
        let domains = |kind| ground.places.domains(&ground.machine, kind);
        let upper = match sizes.processor {
            None => Upper::Reserve(shared),
            Some(size) => {
                let map = domains(ground.machine.processor_kind());
                let (level, counters) = level(base, size, &map, ground, shared);
                Upper::Processor(level, counters)
            }
        };
        let nearest = match (sizes.core, way) {
            (None, _) => Nearest::Upper(upper),
            (Some(size), Way::Sequences(area)) => {
                let sizes = sequence_sizes(size, ground);
                Nearest::Sequences(PerCpu::new(area, ground.source(), base, sizes), upper)
            }
            (Some(size), Way::Exchange) => {
                let (level, counters) = level(base, size, &domains(DomainKind::Core), ground, upper);
                Nearest::Exchange(level, counters)
            }
        };
        Levels { nearest, source: ground.source(), reserve }
    }

    pub(crate) fn reserve(&self) -> &Reserve {
        self.reserve.get()
    }

    /// The core buffers' fast path, where there is one. It is of use for as long as `self` lives.
    pub(crate) fn fast(&self) -> Option<Fast> {
        match &self.nearest {
            Nearest::Sequences(buffers, _) => buffers.fast(),
            Nearest::Exchange(..) | Nearest::Upper(_) => None,
        }
    }

    /// Exactly `bytes` (whole grains, not 0) at a multiple of `align` (a power of two) for one object or one thread buffer.
    #[inline(always)]
    pub(crate) fn allocate(&self, bytes: usize, align: usize, fresh: impl Fn(Extent)) -> Option<usize> {
        // With room for the gap where buffers know nothing of it: what it does not take is lost.
        let room = bytes.checked_add(most_skipped(align))?;
        let extent = match &self.nearest {
            Nearest::Sequences(buffers, upper) if align <= MOST_ALIGNED => {
                return buffers.allocate(bytes, align, upper, fresh);
            }
            Nearest::Sequences(buffers, upper) => {
                return Some(aligned(buffers.allocate(room, GRAIN, upper, fresh)?, align));
            }
            Nearest::Exchange(level, _) => level.allocate(self.cpu(), Request::buffer(room, room))?,
            Nearest::Upper(Upper::Reserve(reserve)) => {
                Extent { start: reserve.aligned(bytes, align)?, bytes }
            }
            Nearest::Upper(upper) => upper.acquire(self.cpu(), room, room)?,
        };
        fresh(extent);
        Some(aligned(extent.start, align))
    }

    /// Makes the last block of this CPU's buffer one of so many bytes (whole grains; of the reserve: fewer), where it is; whether it did.
    pub(crate) fn resize(&self, block: Extent, bytes: usize) -> bool {
        match &self.nearest {
            Nearest::Sequences(buffers, _) => buffers.resize(block, bytes),
            Nearest::Upper(Upper::Reserve(reserve)) => match block.bytes.checked_sub(bytes) {
                Some(rest) => reserve.take_back(Extent { start: block.start + bytes, bytes: rest }),
                None => false,
            },
            Nearest::Upper(Upper::Processor(..)) | Nearest::Exchange(..) => false,
        }
    }

    #[inline(always)]
    fn cpu(&self) -> CpuIndex {
        CpuIndex(self.source.current().0)
    }

    fn upper(&self) -> &Upper {
        match &self.nearest {
            Nearest::Upper(upper) | Nearest::Sequences(_, upper) => upper,
            Nearest::Exchange(level, _) => level.upper(),
        }
    }

    /// Gives all buffers up and takes everything beyond a position of the reserve back. The caller is alone.
    pub(crate) fn reset_to(&self, to: Position) {
        match &self.nearest {
            Nearest::Upper(_) => {}
            Nearest::Sequences(buffers, _) => buffers.reset(),
            Nearest::Exchange(level, _) => level.retire_buffers(),
        }
        if let Upper::Processor(level, _) = self.upper() {
            level.retire_buffers();
        }
        self.reserve().reset_to(to);
    }

    /// How core buffers are used, for people.
    pub(crate) fn way(&self) -> &'static str {
        match &self.nearest {
            Nearest::Upper(_) => "no core buffers",
            Nearest::Sequences(..) => "restartable sequences",
            Nearest::Exchange(..) => "compare and swap",
        }
    }

    /// What happened in the core buffers.
    pub(crate) fn core(&self) -> Option<Happened> {
        match &self.nearest {
            Nearest::Upper(_) => None,
            Nearest::Sequences(buffers, _) => Some(buffers.happened()),
            Nearest::Exchange(level, counters) => Some(counted(counters.get(), level.states())),
        }
    }

    /// What happened in the processor buffers.
    pub(crate) fn processor(&self) -> Option<Happened> {
        match self.upper() {
            Upper::Reserve(_) => None,
            Upper::Processor(level, counters) => Some(counted(counters.get(), level.states())),
        }
    }
}

/// A buffer for each number that a thread may have; less where only some can be in use for long.
fn sequence_sizes(size: usize, ground: &Ground) -> percpu::Sizes {
    let numbers = ground.numbers() as usize;
    let usable = ground.machine.cpus().len();
    let most = ground.places.at_a_time(&ground.machine);
    match (ground.places.is_by_ids(), most < usable) {
        (true, _) => percpu::Sizes::by_ids(size, most, numbers),
        (false, true) => percpu::Sizes::folded(size, most, usable).with_numbers(numbers),
        (false, false) => percpu::Sizes::equal(size, numbers),
    }
}

fn counted(counters: &[Counters], states: impl Iterator<Item = hab::State>) -> Happened {
    let sum = |counter| counters.iter().map(|domain| domain.get(counter)).sum::<u64>();
    let free = |state| if let hab::State::Free(extent) = state { extent.bytes as u64 } else { 0 };
    Happened {
        refills: sum(Counter::Refills),
        reserved: sum(Counter::RefillBytes),
        wasted: sum(Counter::WasteRefill) + sum(Counter::WasteCollection) + sum(Counter::WasteAlignment),
        remaining: states.map(free).sum(),
    }
}
