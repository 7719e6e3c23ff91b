//! The levels over HotSpot's heap.

use crate::options::Levels;
use crate::refills::Watched;
use crate::source::HeapSource;
use hab::{Access, CpuIndex, Extent, Layout, Level, Private, Request, Shape, Shared, Source, State};
use std::cell::Cell;
use topology::{DomainMap, Machine, Places};

type Upper = &'static HeapSource;
/// A rank of buffers over what it is refilled from.
pub(crate) type Rank<S> = Level<'static, Shared, Watched<S>>;

/// What serves the requests: levels over the heap, or the heap alone where the agent only observes. One value for the life of the
/// process. Sizes are in bytes.
///
/// Which of these calls may wait, and which may collect: docs/allocation-walkthrough.md.
pub(crate) trait Hierarchy: Source + Sync + 'static {
    /// Whether there are any buffers.
    fn serves(&self) -> bool;

    /// Serves a request from buffers.
    fn allocate(&self, cpu: CpuIndex, request: Request) -> Option<Extent>;

    /// Serves a single object from any tail of any level.
    fn take_from_tails(&self, cpu: CpuIndex, bytes: usize) -> Option<Extent>;

    /// Counts a foreign allocation, if the thread has changed its domain.
    fn count_migration(&self, before: CpuIndex, after: CpuIndex);

    /// Bytes that a request could get, given that the heap tells it has `available`.
    fn reach(&self, cpu: CpuIndex, available: usize) -> usize;

    /// Shows each level, the threads' level first.
    fn each(&self, look: &mut dyn FnMut(&dyn Buffers));
}

/// The heap alone.
impl Hierarchy for Upper {
    #[inline(always)]
    fn serves(&self) -> bool {
        false
    }

    #[inline(always)]
    fn allocate(&self, _cpu: CpuIndex, _request: Request) -> Option<Extent> {
        None
    }

    fn take_from_tails(&self, _cpu: CpuIndex, _bytes: usize) -> Option<Extent> {
        None
    }

    #[inline(always)]
    fn count_migration(&self, _before: CpuIndex, _after: CpuIndex) {}

    fn reach(&self, _cpu: CpuIndex, available: usize) -> usize {
        HeapSource::reach(self, available)
    }

    fn each(&self, _look: &mut dyn FnMut(&dyn Buffers)) {}
}

impl<S: Hierarchy> Hierarchy for Rank<S> {
    #[inline(always)]
    fn serves(&self) -> bool {
        true
    }

    #[inline(always)]
    fn allocate(&self, cpu: CpuIndex, request: Request) -> Option<Extent> {
        self.allocate(cpu, request)
    }

    #[cold]
    fn take_from_tails(&self, cpu: CpuIndex, bytes: usize) -> Option<Extent> {
        if let Some(extent) = self.allocate(cpu, Request::object_from_tails(bytes)) {
            return Some(extent);
        }
        let upper = &self.upper().source;
        let extent =
            upper.allocate(cpu, Request::object(bytes)).or_else(|| upper.take_from_tails(cpu, bytes))?;
        // What threads have received is counted on their own level, whoever gave it.
        self.count_direct(cpu, extent.bytes);
        Some(extent)
    }

    #[inline(always)]
    fn count_migration(&self, before: CpuIndex, after: CpuIndex) {
        self.count_migration(before, after);
    }

    fn reach(&self, cpu: CpuIndex, available: usize) -> usize {
        // The usual case: nobody above is asked, either.
        if self.is_enough(available) {
            return available;
        }
        self.reach(cpu, self.upper().source.reach(cpu, available))
    }

    fn each(&self, look: &mut dyn FnMut(&dyn Buffers)) {
        look(self);
        self.upper().source.each(look);
    }
}

/// One level, for those who are not in a hurry.
pub(crate) trait Buffers {
    /// Retires all of them.
    fn retire(&self);

    /// Bytes that they hold at this moment.
    fn remaining(&self) -> usize;

    /// Whether none of them holds anything, or is being refilled.
    fn is_idle(&self) -> bool;

    /// The size of each, in bytes.
    fn size(&self) -> usize;

    /// Changes it.
    fn resize(&self, bytes: usize);
}

impl<A: Access, S: Source> Buffers for Level<'_, A, S> {
    fn retire(&self) {
        self.retire_buffers();
    }

    fn remaining(&self) -> usize {
        self.remaining()
    }

    fn is_idle(&self) -> bool {
        self.states().all(|state| state == State::Empty)
    }

    fn size(&self) -> usize {
        self.size()
    }

    fn resize(&self, bytes: usize) {
        self.resize(bytes);
    }
}

impl dyn Hierarchy {
    /// Retires all buffers, those of the threads' level first.
    pub(crate) fn retire_buffers(&self) {
        self.each(&mut |level| level.retire());
    }

    /// Bytes that the buffers of each level hold at this moment, the threads' level first.
    pub(crate) fn remaining(&self) -> Vec<usize> {
        self.of_each(|level| level.remaining())
    }

    /// Whether no buffer holds anything, or is being refilled.
    pub(crate) fn is_idle(&self) -> bool {
        self.of_each(|level| usize::from(!level.is_idle())).iter().all(|busy| *busy == 0)
    }

    /// The sizes in force, the threads' level first.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        self.of_each(|level| level.size())
    }

    /// Changes the sizes, the threads' level first.
    pub(crate) fn resize(&self, sizes: &[usize]) {
        let mut sizes = sizes.iter();
        self.each(&mut |level| sizes.next().into_iter().for_each(|bytes| level.resize(*bytes)));
    }

    fn of_each(&self, get: impl Fn(&dyn Buffers) -> usize) -> Vec<usize> {
        let mut all = Vec::new();
        self.each(&mut |level| all.push(get(level)));
        all
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
        self.0.allocate(CpuIndex(thread), Request::buffer(min, desired))
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
