//! What stands between threads and the reserve.

use crate::owned::Owned;
use crate::percpu::{Fast, Happened, PerCpu};
use crate::reserve::{GRAIN_SHIFT, Reserve};
use crate::sequence::Area;
use hab::{Counter, Counters, CpuIndex, DomainIndex, Extent, Layout, Level, Request, Shape, Shared, Source};
use topology::{CpuSource, DomainKind, DomainMap, Machine};

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
    Processor(Level<'static, Shared, &'static Reserve>),
}

impl Source for Upper {
    #[inline]
    fn acquire(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        match self {
            Upper::Reserve(reserve) => reserve.acquire(cpu, min, desired),
            Upper::Processor(level) => level.allocate(cpu, Request::buffer(min, desired)),
        }
    }

    fn available(&self, cpu: CpuIndex) -> usize {
        match self {
            Upper::Reserve(reserve) => reserve.available(cpu),
            Upper::Processor(level) => level.available(cpu),
        }
    }

    fn retire(&self, _tail: Extent) {}
}

#[derive(Debug)]
enum Nearest {
    Upper(Upper),
    Sequences(PerCpu, Upper),
    Exchange(Level<'static, Shared, Upper>),
}

/// All levels of an arena.
#[derive(Debug)]
pub(crate) struct Levels {
    nearest: Nearest,
    source: CpuSource,
    /// Last: the levels refer to them.
    core_counters: Owned<Box<[Counters]>>,
    processor_counters: Owned<Box<[Counters]>>,
    reserve: Owned<Reserve>,
}

/// Sizes of buffers in bytes; `None` for a level that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) core: Option<usize>,
    pub(crate) processor: Option<usize>,
}

fn layout(map: &DomainMap, table: u32) -> Layout {
    Layout {
        domain_of_cpu: (0..table).map(|id| DomainIndex(map.of(topology::CpuId(id)).0)).collect(),
        group_of_domain: (0..map.count())
            .map(|index| map.group(topology::DomainIndex(index as u16)))
            .collect(),
        // Plain additions only where no CPU can come that is not known yet: it would count in the last domain.
        exclusive: if map.any_shared() { 0 } else { map.count().saturating_sub(1) },
    }
}

fn counters(map: &DomainMap) -> Owned<Box<[Counters]>> {
    Owned::new((0..map.count()).map(|_| Counters::default()).collect())
}

impl Levels {
    pub(crate) fn new(reserve: Reserve, sizes: Sizes, way: Way, machine: &Machine) -> Levels {
        let reserve = Owned::new(reserve);
        let cores = machine.domains(DomainKind::Core);
        let processors = machine.domains(machine.processor_kind());
        let (core_counters, processor_counters) = (counters(&cores), counters(&processors));
        let table = machine.table_len();
        let base = reserve.get().base();
        // SAFETY: the fields that are referred to are declared behind `nearest`, and so dropped after it.
        let (shared, core, processor) =
            unsafe { (reserve.forever(), core_counters.forever(), processor_counters.forever()) };
        let upper = match sizes.processor {
            None => Upper::Reserve(shared),
            Some(size) => {
                Upper::Processor(Level::new(base, SHAPE, size, layout(&processors, table), processor, shared))
            }
        };
        let nearest = match (sizes.core, way) {
            (None, _) => Nearest::Upper(upper),
            (Some(size), Way::Sequences(area)) => {
                Nearest::Sequences(PerCpu::new(area, base, size, table), upper)
            }
            (Some(size), Way::Exchange) => {
                Nearest::Exchange(Level::new(base, SHAPE, size, layout(&cores, table), core, upper))
            }
        };
        Levels { nearest, source: CpuSource::detect(), core_counters, processor_counters, reserve }
    }

    pub(crate) fn reserve(&self) -> &Reserve {
        self.reserve.get()
    }

    /// The core buffers' fast path, where there is one. It is of use for as long as `self` lives.
    pub(crate) fn fast(&self) -> Option<Fast> {
        match &self.nearest {
            Nearest::Sequences(buffers, _) => Some(buffers.fast()),
            Nearest::Exchange(_) | Nearest::Upper(_) => None,
        }
    }

    /// Exactly `bytes` (whole grains, not 0) for one object or one thread buffer.
    #[inline(always)]
    pub(crate) fn allocate(&self, bytes: usize, fresh: impl Fn(Extent)) -> Option<usize> {
        match &self.nearest {
            Nearest::Sequences(buffers, upper) => buffers.allocate(bytes, upper, fresh),
            Nearest::Exchange(level) => {
                let extent = level.allocate(self.cpu(), Request::buffer(bytes, bytes))?;
                fresh(extent);
                Some(extent.start)
            }
            Nearest::Upper(upper) => {
                let extent = upper.acquire(self.cpu(), bytes, bytes)?;
                fresh(extent);
                Some(extent.start)
            }
        }
    }

    #[inline(always)]
    fn cpu(&self) -> CpuIndex {
        CpuIndex(self.source.current().0)
    }

    /// Gives all buffers up and takes everything beyond the first `used` bytes of the reserve back. The caller is alone.
    pub(crate) fn reset_to(&self, used: usize) {
        let upper = match &self.nearest {
            Nearest::Upper(upper) => upper,
            Nearest::Sequences(buffers, upper) => {
                buffers.reset();
                upper
            }
            Nearest::Exchange(level) => {
                level.retire_buffers();
                level.upper()
            }
        };
        if let Upper::Processor(level) = upper {
            level.retire_buffers();
        }
        self.reserve().reset_to(used);
    }

    /// How core buffers are used, for people.
    pub(crate) fn way(&self) -> &'static str {
        match &self.nearest {
            Nearest::Upper(_) => "no core buffers",
            Nearest::Sequences(..) => "restartable sequences",
            Nearest::Exchange(_) => "compare and swap",
        }
    }

    /// What happened in the core buffers.
    pub(crate) fn core(&self) -> Option<Happened> {
        match &self.nearest {
            Nearest::Upper(_) => None,
            Nearest::Sequences(buffers, _) => Some(buffers.happened()),
            Nearest::Exchange(level) => Some(counted(self.core_counters.get(), level.states())),
        }
    }

    /// What happened in the processor buffers.
    pub(crate) fn processor(&self) -> Option<Happened> {
        let upper = match &self.nearest {
            Nearest::Upper(upper) | Nearest::Sequences(_, upper) => upper,
            Nearest::Exchange(level) => level.upper(),
        };
        match upper {
            Upper::Reserve(_) => None,
            Upper::Processor(level) => Some(counted(self.processor_counters.get(), level.states())),
        }
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
