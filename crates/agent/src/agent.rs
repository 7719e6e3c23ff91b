//! The installed agent: what the hooks work with.
#![allow(
    clippy::disallowed_types,
    reason = "the installed agent is found by all threads through one pointer"
)]

use crate::growth::FIRST;
use crate::hierarchy::{Hierarchy, ThreadBuffers};
use crate::in_place::InPlace;
use crate::refills::Watch;
use crate::sizes::Sizes;
use crate::small_first::FirstTlabs;
use control::{Control, Mode};
use hab::{Counter, Counters, CpuIndex, DomainIndex, Layout, Shape};
use hotspot::functions::{
    AllocateNewTlab, EnsureParsability, Functions, MemAllocate, Pause, TraceHeap, UnsafeMaxTlabAlloc,
};
use hotspot::heap::Heap;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, PoisonError};
use topology::CpuSource;

/// HotSpot's own functions. One that is not hooked is never called.
#[derive(Debug)]
pub(crate) struct Originals {
    pub(crate) allocate_new_tlab: AllocateNewTlab,
    pub(crate) mem_allocate: MemAllocate,
    pub(crate) unsafe_max_tlab_alloc: UnsafeMaxTlabAlloc,
    pub(crate) ensure_parsability: Option<EnsureParsability>,
    pub(crate) trace_heap: Option<TraceHeap>,
    pub(crate) pauses: Vec<Pause>,
}

impl Originals {
    pub(crate) fn of(functions: &Functions) -> Originals {
        Originals {
            allocate_new_tlab: functions.allocate_new_tlab.original(),
            mem_allocate: functions.mem_allocate.original(),
            unsafe_max_tlab_alloc: functions.unsafe_max_tlab_alloc.original(),
            ensure_parsability: functions.ensure_parsability.map(|slot| slot.original()),
            trace_heap: functions.trace_heap.map(|slot| slot.original()),
            pauses: functions.pauses.clone(),
        }
    }
}

/// Where requests are counted that no level serves: by the threads' domains.
pub(crate) struct Observed {
    /// As in [`Layout`], but one table for all installations that have the same.
    domain_of_cpu: &'static [DomainIndex],
    pub(crate) exclusive: usize,
    pub(crate) counters: &'static [Counters],
}

/// Tables that stay, because a hook may use one until the process ends: each once, however often observers come and go.
static TABLES: Mutex<Vec<&'static [DomainIndex]>> = Mutex::new(Vec::new());

fn shared(table: &[DomainIndex]) -> &'static [DomainIndex] {
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = tables.iter().find(|known| **known == table) {
        return found;
    }
    let table: &'static [DomainIndex] = Box::leak(table.into());
    tables.push(table);
    table
}

impl Observed {
    pub(crate) fn new(layout: &Layout, counters: &'static [Counters]) -> Observed {
        Observed { domain_of_cpu: shared(&layout.domain_of_cpu), exclusive: layout.exclusive, counters }
    }

    #[inline(always)]
    pub(crate) fn domain(&self, cpu: CpuIndex) -> usize {
        let known = self.domain_of_cpu.get(cpu.0 as usize);
        known.map_or(self.counters.len().saturating_sub(1), |domain| usize::from(domain.0))
    }
}

/// Which single objects a buffer may serve.
pub(crate) struct Objects {
    /// However large the buffers are: those that the collector wants in its old generation are left to it.
    most: usize,
    largest: AtomicUsize,
}

impl Objects {
    /// At most of `most` bytes, and small against the sizes: a large one would waste what it leaves behind.
    pub(crate) fn of(most: usize, sizes: &[usize]) -> Objects {
        let objects = Objects { most, largest: AtomicUsize::new(0) };
        objects.follow(sizes);
        objects
    }

    fn follow(&self, sizes: &[usize]) {
        let by_size = sizes.first().map_or(0, |size| size / 4);
        // Relaxed: either limit is a right one.
        self.largest.store(by_size.min(self.most), Ordering::Relaxed);
    }

    /// Bytes of the largest.
    #[inline(always)]
    pub(crate) fn largest(&self) -> usize {
        self.largest.load(Ordering::Relaxed)
    }
}

/// The installed agent: made once, never freed. Hooks know the type of its hierarchy, others need not.
pub(crate) struct Agent<H: ?Sized = dyn Hierarchy> {
    pub(crate) control: &'static Control,
    pub(crate) cpu_source: CpuSource,
    pub(crate) objects: Objects,
    pub(crate) refill_for_objects: bool,
    /// Whether nothing is ever collected, so that what other cores' buffers hold is the last memory that there is.
    pub(crate) never_collects: bool,
    /// Whether new threads' TLABs grow (`tlab=auto`).
    pub(crate) first_tlabs: FirstTlabs,
    pub(crate) observed: Option<Observed>,
    pub(crate) bound: Option<ThreadBuffers>,
    pub(crate) originals: Originals,
    pub(crate) heap: &'static Heap,
    /// For refills that HotSpot serves alone.
    pub(crate) watch: Watch,
    pub(crate) shape: Shape,
    pub(crate) sized: Sizes,
    pub(crate) in_place: &'static InPlace,
    pub(crate) hierarchy: H,
}

/// The agent, without the type of its hierarchy: for hooks, which know it.
static AGENT: AtomicPtr<()> = AtomicPtr::new(null_mut());
/// The agent for all others.
static INSTALLED: AtomicPtr<&'static Agent> = AtomicPtr::new(null_mut());
/// What the last one stands before. It stays when the agent goes.
static ORIGINALS: AtomicPtr<Originals> = AtomicPtr::new(null_mut());

/// Orders a hook behind HotSpot's plain load of the table's entry that led here. The branch through the entry orders nothing: a
/// processor that guesses where it goes may load in the hook before the entry is there, and find no agent, or an earlier one.
/// (`crates/hab/tests/loom/publication.rs` shows it.) An instruction on aarch64, none on x86-64.
#[inline(always)]
pub(crate) fn come_through_the_table() {
    // Acquire: pairs with the Release that put the hook into its entry (`hotspot::patch`).
    fence(Ordering::Acquire);
}

/// The agent, in a hook: hooks are in place only after it was stored.
///
/// # Safety
/// Only from hooks of the agent's own hierarchy.
#[inline(always)]
pub(crate) unsafe fn agent<H>() -> &'static Agent<H> {
    come_through_the_table();
    // Acquire: pairs with the release in `publish`; on x86-64 it costs nothing.
    let agent = AGENT.load(Ordering::Acquire).cast::<Agent<H>>();
    // SAFETY: stored before any hook was put in place, of this type by the caller's word, and never freed.
    unsafe { &*agent }
}

/// HotSpot's own functions, in a hook that needs no agent: a thread that HotSpot does not stop for a collection may be on its way into one when the
/// agent goes.
///
/// # Safety
/// Only from hooks, which are in place only after an agent was published.
pub(crate) unsafe fn originals() -> &'static Originals {
    come_through_the_table();
    // Acquire: pairs with the release in `publish`.
    // SAFETY: stored before any hook was put in place, and never freed.
    unsafe { &*ORIGINALS.load(Ordering::Acquire) }
}

/// The agent, if it is installed.
pub(crate) fn agent_if_installed() -> Option<&'static Agent> {
    // SAFETY: null or a leaked value.
    unsafe { INSTALLED.load(Ordering::Acquire).as_ref() }.copied()
}

/// Makes the agent known to its hooks.
pub(crate) fn publish_to_hooks(agent: &'static Agent) {
    // Release: who finds the agent sees all of it.
    AGENT.store(std::ptr::from_ref(agent).cast_mut().cast(), Ordering::Release);
}

/// Makes the agent known to all but hooks.
pub(crate) fn publish(agent: &'static Agent) {
    publish_originals(&agent.originals);
    // Release: as above.
    INSTALLED.store(Box::leak(Box::new(agent)), Ordering::Release);
}

/// Makes HotSpot's own functions known to hooks.
pub(crate) fn publish_originals(originals: &'static Originals) {
    // Release: as above.
    ORIGINALS.store(std::ptr::from_ref(originals).cast_mut(), Ordering::Release);
}

/// There is none any more, but for its own hooks.
pub(crate) fn forget() {
    // Relaxed: nothing is read through it.
    INSTALLED.store(null_mut(), Ordering::Relaxed);
}

impl Agent {
    /// Retires every buffer. Only at a safepoint.
    pub(crate) fn retire_buffers(&self) {
        self.hierarchy.retire_buffers();
        if let Some(bound) = &self.bound {
            bound.retire_buffers();
        }
    }

    /// Puts HotSpot's own functions back, if this was asked for and nothing is lost without the hooks. Only at a safepoint, with all
    /// buffers retired.
    ///
    /// A thread in a hook is waiting inside HotSpot's own function by now. If it does so for a buffer, that is being refilled, and there will be a tail to fill. If for itself alone, it may
    /// look into the buffers once more, which are empty for ever, and refills none (`hab::Level::allocate_slowly`). None is on its way into a hook: in VM state it would have held the safepoint back.
    pub(crate) fn withdraw_if_asked(&self) {
        let unused =
            || !self.hierarchy.serves() || (self.control.mode() == Mode::Off && self.hierarchy.is_idle());
        if self.control.is_to_withdraw() && self.bound.is_none() && unused() {
            self.in_place.try_take_back();
        }
    }

    /// A collection begins. Only on the VM thread, at a safepoint.
    pub(crate) fn pause_begins(&self) {
        self.in_place.lease.look();
        self.sized.pause_begins();
        self.first_tlabs.pause_begins();
    }

    /// A collection has ended, and eden may have changed its size: sizes follow, those that somebody has fixed as far as they still fit. Only on the VM
    /// thread, at the safepoint.
    pub(crate) fn pause_ends(&self) {
        self.first_tlabs.pause_ends(self.control.mode() == Mode::On, || self.handed());
        self.tell_first_tlab();
        if !self.control.has_taken_sizes() {
            self.take_sizes();
        } else {
            self.resize(|eden| self.sized.after_collection(eden, self.control));
        }
    }

    /// Bytes handed out to threads, by whichever way.
    fn handed(&self) -> u64 {
        const WAYS: [Counter; 6] = [
            Counter::BufferBytes,
            Counter::ObjectBytes,
            Counter::StolenBytes,
            Counter::DirectBytes,
            Counter::MissedBytes,
            Counter::PassedBytes,
        ];
        let counted = self.control.counters(0).iter().flat_map(|domain| WAYS.map(|way| domain.get(way)));
        counted.fold(0, u64::wrapping_add)
    }

    /// Notes in the control memory what new threads begin with.
    pub(crate) fn tell_first_tlab(&self) {
        self.control.set_first_tlab(if self.first_tlabs.are_small() { FIRST } else { 0 });
    }

    /// Somebody has asked for other sizes. Only on the VM thread or a Java thread in VM state.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_sizes(&self) {
        let number = self.control.asked_number();
        self.resize(|eden| self.sized.as_asked(eden, self.control));
        self.control.take_sizes(number);
    }

    fn resize(&self, sizes: impl FnOnce(usize) -> Vec<usize>) {
        // SAFETY: by the callers' word the thread is known to HotSpot, and the heap exists.
        let eden = unsafe { self.heap.tlab_capacity() };
        self.hierarchy.resize(&sizes(eden));
        let sizes = self.hierarchy.sizes();
        self.objects.follow(&sizes);
        self.control.set_sizes(&sizes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observers_share_a_table() {
        let layout = |domains: &[u16]| Layout {
            domain_of_cpu: domains.iter().map(|domain| DomainIndex(*domain)).collect(),
            group_of_domain: [0, 0].into(),
            exclusive: 2,
        };
        let table = |domains: &[u16]| Observed::new(&layout(domains), &[]).domain_of_cpu.as_ptr();
        assert_eq!(table(&[0, 1, 1]), table(&[0, 1, 1]));
        assert_ne!(table(&[0, 1, 1]), table(&[0, 1]));
        let observed = Observed::new(&layout(&[1, 0]), &[]);
        assert_eq!([0, 1].map(|cpu| observed.domain(CpuIndex(cpu))), [1, 0]);
    }
}
