//! The levels over HotSpot's heap.

use crate::options::Levels;
use crate::source::HeapSource;
use hab::{CpuIndex, Extent, Layout, Level, Private, Shape, Shared, Source};
use std::cell::Cell;
use topology::{DomainMap, Machine, Places};

type Upper = &'static HeapSource;
type Outer = Level<'static, Shared, Upper>;

/// What serves the requests. One value for the life of the process.
#[derive(Debug)]
pub(crate) enum Hierarchy {
    /// Nothing: observe only.
    None,
    /// Thread, one level, heap.
    Three(Outer),
    /// Thread, core, processor, heap.
    Four(Level<'static, Shared, Outer>),
}

impl Hierarchy {
    /// Whether there are any buffers.
    #[inline(always)]
    pub(crate) fn serves(&self) -> bool {
        !matches!(self, Hierarchy::None)
    }

    /// Serves a request for a TLAB, in bytes.
    #[inline(always)]
    pub(crate) fn allocate(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        match self {
            Hierarchy::Three(level) => level.allocate(cpu, min, desired),
            Hierarchy::Four(level) => level.allocate(cpu, min, desired),
            Hierarchy::None => None,
        }
    }

    /// Serves a single object, in bytes; `refill` allows to fetch a new extent for it.
    #[inline(always)]
    pub(crate) fn allocate_object(&self, cpu: CpuIndex, bytes: usize, refill: bool) -> Option<Extent> {
        match (self, refill) {
            (Hierarchy::Three(level), false) => level.carve_object(cpu, bytes),
            (Hierarchy::Four(level), false) => level.carve_object(cpu, bytes),
            (Hierarchy::Three(level), true) => level.allocate_object(cpu, bytes),
            (Hierarchy::Four(level), true) => level.allocate_object(cpu, bytes),
            (Hierarchy::None, _) => None,
        }
    }

    /// Serves a single object from any tail, when the heap has no more than `available` bytes left; else leaves it to the heap.
    pub(crate) fn last_resort(&self, cpu: CpuIndex, bytes: usize, available: usize) -> Option<Extent> {
        match self {
            _ if available >= bytes => None,
            Hierarchy::Three(level) => level.carve_object_from_tails(cpu, bytes),
            Hierarchy::Four(level) => level
                .carve_object_from_tails(cpu, bytes)
                .or_else(|| level.upper().carve_object(cpu, bytes))
                .or_else(|| level.upper().carve_object_from_tails(cpu, bytes)),
            Hierarchy::None => None,
        }
    }

    /// Counts a foreign allocation, if the thread has changed its domain.
    #[inline(always)]
    pub(crate) fn count_migration(&self, before: CpuIndex, after: CpuIndex) {
        match self {
            Hierarchy::Three(level) => level.count_migration(before, after),
            Hierarchy::Four(level) => level.count_migration(before, after),
            Hierarchy::None => {}
        }
    }

    /// Bytes that a request could get, given that the heap has `available`.
    pub(crate) fn available(&self, cpu: CpuIndex, available: usize) -> usize {
        match self {
            Hierarchy::None => available,
            Hierarchy::Three(level) => level.reach(cpu, available),
            Hierarchy::Four(level) => level.reach(cpu, level.upper().reach(cpu, available)),
        }
    }

    /// Retires all buffers, those of the threads' level first.
    pub(crate) fn retire_buffers(&self) {
        match self {
            Hierarchy::None => {}
            Hierarchy::Three(level) => level.retire_buffers(),
            Hierarchy::Four(level) => {
                level.retire_buffers();
                level.upper().retire_buffers();
            }
        }
    }

    /// Bytes that the buffers of each level hold at this moment, the threads' level first.
    pub(crate) fn remaining(&self) -> Vec<usize> {
        match self {
            Hierarchy::None => vec![],
            Hierarchy::Three(level) => vec![level.remaining()],
            Hierarchy::Four(level) => vec![level.remaining(), level.upper().remaining()],
        }
    }

    /// The sizes in force, in bytes, the threads' level first.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        match self {
            Hierarchy::None => vec![],
            Hierarchy::Three(level) => vec![level.size()],
            Hierarchy::Four(level) => vec![level.size(), level.upper().size()],
        }
    }

    /// Changes the sizes, the threads' level first.
    pub(crate) fn resize(&self, sizes: &[usize]) {
        match (self, sizes) {
            (Hierarchy::Three(level), [bytes]) => level.resize(*bytes),
            (Hierarchy::Four(level), [near, far]) => {
                level.resize(*near);
                level.upper().resize(*far);
            }
            _ => {}
        }
    }
}

/// The maps from a thread's place to the domain of each level, the threads' level first.
pub(crate) fn domain_maps(levels: Levels, machine: &Machine, places: &Places) -> Vec<DomainMap> {
    let core = || places.domains(machine, topology::DomainKind::Core);
    let processor = || places.domains(machine, machine.processor_kind());
    match levels {
        Levels::None | Levels::Core => vec![core()],
        Levels::Processor => vec![processor()],
        Levels::CoreAndProcessor => vec![core(), processor()],
    }
}

/// A level's layout. The numbers are used as the system gives them: the table covers all possible ones. `exact`: all counters with
/// locked additions.
pub(crate) fn layout(machine: &Machine, map: &DomainMap, exact: bool) -> Layout {
    Layout {
        domain_of_cpu: (0..machine.table_len())
            .map(|cpu| hab::DomainIndex(map.of(topology::CpuId(cpu)).0))
            .collect(),
        group_of_domain: (0..map.count())
            .map(|domain| map.group(topology::DomainIndex(domain as u16)))
            .collect(),
        exclusive: if exact { 0 } else { map.exclusive() },
    }
}

/// For measuring the bound: a buffer for each thread, which nobody shares. The first [`ThreadBuffers::THREADS`] threads get one.
#[derive(Debug)]
pub(crate) struct ThreadBuffers(Level<'static, Private, Upper>);

thread_local! {
    static THREAD: Cell<u32> = const { Cell::new(u32::MAX) };
}

impl ThreadBuffers {
    pub(crate) const THREADS: usize = 256;

    pub(crate) fn new(
        base: usize,
        shape: Shape,
        size: usize,
        counters: &'static [hab::Counters],
        upper: Upper,
    ) -> ThreadBuffers {
        let layout = Layout {
            domain_of_cpu: (0..Self::THREADS as u16).map(hab::DomainIndex).collect(),
            group_of_domain: vec![0; Self::THREADS].into(),
            exclusive: Self::THREADS,
        };
        ThreadBuffers(Level::new(base, shape, size, layout, counters, upper))
    }

    /// Not inlined: the hook's ordinary way stays short.
    #[inline(never)]
    pub(crate) fn allocate(&self, min: usize, desired: usize) -> Option<Extent> {
        let thread = THREAD.get();
        let thread = if thread == u32::MAX { new_thread() } else { thread };
        if thread as usize >= Self::THREADS {
            return self.0.upper().acquire(CpuIndex(0), min, desired);
        }
        self.0.allocate(CpuIndex(thread), min, desired)
    }

    pub(crate) fn retire_buffers(&self) {
        self.0.retire_buffers();
    }

    /// Bytes that all of them hold at this moment.
    pub(crate) fn remaining(&self) -> usize {
        self.0.remaining()
    }
}

#[cold]
#[allow(clippy::disallowed_types, reason = "numbers for threads come from all threads")]
fn new_thread() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Relaxed: only the number's uniqueness matters.
    let thread = NEXT.fetch_add(1, Ordering::Relaxed).min(u32::MAX - 1);
    THREAD.set(thread);
    thread
}
