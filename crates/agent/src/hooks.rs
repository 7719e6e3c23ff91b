//! The functions that stand in the heap's vtable, and in those of a collector's pauses, instead of HotSpot's own.
//!
//! They have HotSpot's signatures: sizes of `allocate_new_tlab` and `mem_allocate` in words, of `unsafe_max_tlab_alloc` in bytes.
//! Those that have lost their last argument since JDK 26 hand on what they were called with (`hotspot::functions`).
//! What each of them may rely on is told in docs/allocation-walkthrough.md.

use crate::agent::{Agent, agent, agent_if_installed, originals};
use crate::growth;
use crate::hierarchy::Hierarchy;
use crate::refills::Place;
use control::Mode;
use hab::{Counter, CpuIndex, Extent, Request};
use hotspot::WORD;
use hotspot::collector::Hooks;
use hotspot::functions::Functions;
use hotspot::heap::BEFORE_GC;
use hotspot::patch::Exchange;
use std::ffi::c_void;

/// All hooks that a collector needs, for the agent with this hierarchy: those that give memory up first, the one that hands it out
/// last.
pub(crate) fn exchanges<H: Hierarchy>(functions: &Functions, hooks: Hooks) -> Vec<Exchange> {
    let parsability = functions.ensure_parsability.iter().map(|slot| slot.exchange_for(ensure_parsability));
    let trace = functions.trace_heap.iter().map(|slot| slot.exchange_for(trace_heap));
    let available =
        hooks.available.then(|| functions.unsafe_max_tlab_alloc.exchange_for(unsafe_max_tlab_alloc::<H>));
    let pauses = functions.pauses.iter().map(|pause| pause.doit.exchange_for(doit::<H>));
    let mut exchanges: Vec<Exchange> = parsability.chain(trace).chain(pauses).chain(available).collect();
    exchanges.push(functions.mem_allocate.exchange_for(mem_allocate::<H>));
    exchanges.push(functions.allocate_new_tlab.exchange_for(allocate_new_tlab::<H>));
    exchanges
}

impl<H: Hierarchy> Agent<H> {
    #[inline(always)]
    fn cpu(&self) -> CpuIndex {
        CpuIndex(self.cpu_source.current().0)
    }

    /// Counts a request that ended elsewhere than it began, where asking costs no system call.
    #[inline(always)]
    fn count_migration(&self, before: CpuIndex) {
        if self.cpu_source.is_cheap() {
            self.hierarchy.count_migration(before, self.cpu());
        }
    }

    /// How much of a request for a TLAB is served, in bytes.
    #[inline(always)]
    fn desired(&self, min: usize, requested: usize) -> usize {
        if !self.first_tlabs.are_small() {
            return requested;
        }
        growth::next(min, requested, self.shape, || {
            // SAFETY: in a hook of `allocate_new_tlab`, so on a Java thread.
            unsafe { self.heap.allocated_by_thread() }
        })
    }

    /// Counts a request that went straight to the heap.
    fn count_past(&self, events: Counter, sum: Counter, bytes: usize) {
        let Some(observed) = &self.observed else { return };
        let domain = observed.domain(self.cpu());
        let Some(counters) = observed.counters.get(domain) else { return };
        if domain < observed.exclusive {
            counters.add_plainly(events, 1);
            counters.add_plainly(sum, bytes as u64);
        } else {
            counters.add(events, 1);
            counters.add(sum, bytes as u64);
        }
    }
}

/// For `CollectedHeap::allocate_new_tlab(min, requested, actual)`: a Java thread in VM state wants a new TLAB.
///
/// # Safety
/// Called by HotSpot only, once the agent is set up.
pub(crate) unsafe extern "C" fn allocate_new_tlab<H: Hierarchy>(
    heap: *mut c_void,
    min: usize,
    requested: usize,
    actual: *mut usize,
) -> *mut c_void {
    // SAFETY: a hook of this hierarchy.
    let agent = unsafe { agent::<H>() };
    let (min_bytes, requested_bytes) = (min * WORD, requested * WORD);
    let served: Option<Extent> = match agent.control.mode() {
        Mode::On if agent.hierarchy.serves() => {
            let desired = agent.desired(min_bytes, requested_bytes);
            let cpu = agent.cpu();
            let served = agent.hierarchy.allocate(cpu, Request::buffer(min_bytes, desired));
            agent.count_migration(cpu);
            served
        }
        Mode::Bound if agent.bound.is_some() => {
            let desired = agent.desired(min_bytes, requested_bytes);
            agent.bound.as_ref().and_then(|bound| bound.allocate(min_bytes, desired))
        }
        // SAFETY: HotSpot's own arguments, handed on.
        Mode::On | Mode::Bound | Mode::Off => return unsafe { pass(agent, heap, min, requested, actual) },
    };
    match served {
        Some(extent) => {
            // SAFETY: HotSpot passes a place for the answer.
            unsafe { *actual = extent.bytes / WORD };
            extent.start as *mut c_void
        }
        None => {
            // SAFETY: as above; HotSpot expects 0 with a null.
            unsafe { *actual = 0 };
            std::ptr::null_mut()
        }
    }
}

/// Straight to HotSpot's own function.
///
/// # Safety
/// As for [`allocate_new_tlab`].
#[cold]
#[inline(never)]
unsafe fn pass<H: Hierarchy>(
    agent: &Agent<H>,
    heap: *mut c_void,
    min: usize,
    requested: usize,
    actual: *mut usize,
) -> *mut c_void {
    let begun = agent.watch.begin();
    // SAFETY: HotSpot's own arguments, handed on to the function that was meant.
    let start = unsafe { (agent.originals.allocate_new_tlab)(heap, min, requested, actual) };
    // SAFETY: HotSpot has just written there.
    let words = if start.is_null() { 0 } else { unsafe { *actual } };
    let bytes = words * WORD;
    if let Some(begun) = &begun {
        agent.watch.end(begun, (Place::Heap, Place::Thread), true, start as usize, bytes);
    }
    if !start.is_null() {
        agent.count_past(Counter::Passed, Counter::PassedBytes, bytes);
    }
    start
}

/// For `CollectedHeap::mem_allocate(size, overhead_limit_was_exceeded)`: a Java thread in VM state wants one object outside its
/// TLAB. Served from what the own buffer holds, and at eden's end from any tail; refilled for it only in a JVM without TLABs.
///
/// # Safety
/// Called by HotSpot only, once the agent is set up.
pub(crate) unsafe extern "C" fn mem_allocate<H: Hierarchy>(
    heap: *mut c_void,
    size: usize,
    exceeded: *mut bool,
) -> *mut c_void {
    // SAFETY: a hook of this hierarchy.
    let agent = unsafe { agent::<H>() };
    let bytes = size * WORD;
    let mode = agent.control.mode();
    if mode == Mode::On && bytes <= agent.objects.largest() {
        let cpu = agent.cpu();
        let own = match agent.refill_for_objects {
            true => Request::object_with_refill(bytes),
            false => Request::object(bytes),
        };
        let served = agent.hierarchy.allocate(cpu, own).or_else(|| {
            // SAFETY: on a Java thread.
            let used_up = unsafe { agent.heap.available() } < bytes;
            used_up.then(|| agent.hierarchy.take_from_tails(cpu, bytes)).flatten()
        });
        if let Some(extent) = served {
            agent.count_migration(cpu);
            return extent.start as *mut c_void;
        }
    }
    // SAFETY: HotSpot's own arguments, handed on to the function that was meant.
    let start = unsafe { (agent.originals.mem_allocate)(heap, size, exceeded) };
    if start.is_null() && mode == Mode::On && agent.never_collects && bytes <= agent.objects.largest() {
        return last_memory(agent, bytes);
    }
    if !start.is_null() {
        // Missed by buffers, or past them because they are off or not there.
        let (events, sum) = match mode != Mode::Off && agent.hierarchy.serves() {
            true => (Counter::Missed, Counter::MissedBytes),
            false => (Counter::Passed, Counter::PassedBytes),
        };
        agent.count_past(events, sum, bytes);
    }
    start
}

/// Epsilon's heap is used up, which it tells nobody before (`EpsilonHeap::unsafe_max_tlab_alloc` is the same up to the end).
#[cold]
#[inline(never)]
fn last_memory<H: Hierarchy>(agent: &Agent<H>, bytes: usize) -> *mut c_void {
    let found = agent.hierarchy.take_from_tails(agent.cpu(), bytes);
    found.map_or(std::ptr::null_mut(), |extent| extent.start as *mut c_void)
}

/// For `CollectedHeap::unsafe_max_tlab_alloc(thread)`: what the buffers hold is free, too. Otherwise a thread at eden's end would
/// collect while buffers still hold memory.
///
/// # Safety
/// Called by HotSpot only, once the agent is set up.
pub(crate) unsafe extern "C" fn unsafe_max_tlab_alloc<H: Hierarchy>(
    heap: *const c_void,
    thread: *mut c_void,
) -> usize {
    // SAFETY: a hook of this hierarchy.
    let agent = unsafe { agent::<H>() };
    // SAFETY: HotSpot's own arguments, handed on to the function that was meant.
    let original = unsafe { (agent.originals.unsafe_max_tlab_alloc)(heap, thread) };
    match agent.control.mode() {
        Mode::On if agent.hierarchy.serves() => agent.hierarchy.reach(agent.cpu(), original),
        Mode::On | Mode::Bound | Mode::Off => original,
    }
}

/// For `CollectedHeap::ensure_parsability(retire_tlabs)`: at a safepoint, somebody is going to walk the heap. Ours first: what
/// HotSpot's own function fills behind it is beyond our tails.
///
/// # Safety
/// Called by HotSpot only, once the agent is set up.
pub(crate) unsafe extern "C" fn ensure_parsability(heap: *mut c_void, retire_tlabs: bool) {
    // SAFETY: in a hook.
    let originals = unsafe { originals() };
    if let Some(agent) = agent_if_installed() {
        agent.control.count_parsability();
        agent.retire_buffers();
    }
    if let Some(original) = originals.ensure_parsability {
        // SAFETY: HotSpot's own arguments, handed on to the function that was meant.
        unsafe { original(heap, retire_tlabs) };
    }
}

/// For `CollectedHeap::trace_heap(when, tracer)`: with G1, the one virtual call of a young pause that comes without an event, too: after VMDeath,
/// and since JDK 26 from before the first agent's VMDeath callback on. After an event it finds nothing to retire.
///
/// G1's concurrent marking calls it as well, beside a pause or while threads run. That all threads stand still says nothing of the thread
/// that asks: what that one took out of a buffer it might fill when the pause is long over. So it counts at a safepoint, on the VM thread.
///
/// # Safety
/// Called by HotSpot only, once the agent is set up.
pub(crate) unsafe extern "C" fn trace_heap(heap: *mut c_void, when: i32, tracer: *const c_void) {
    // SAFETY: in a hook.
    let originals = unsafe { originals() };
    if when == BEFORE_GC
        && let Some(agent) = agent_if_installed()
        && agent.heap.is_at_safepoint()
        // SAFETY: HotSpot's own threads call it.
        && unsafe { agent.heap.is_on_vm_thread() }
    {
        agent.retire_buffers();
    }
    if let Some(original) = originals.trace_heap {
        // SAFETY: HotSpot's own arguments, handed on to the function that was meant.
        unsafe { original(heap, when, tracer) };
    }
}

/// For `VM_Operation::doit()` of a collector's pauses: on the VM thread, at a safepoint, before anything is moved or marked. Usually the event
/// tells of the same pause a moment later, and finds nothing to retire.
///
/// # Safety
/// Called by HotSpot only, once the agent is set up.
pub(crate) unsafe extern "C" fn doit<H: Hierarchy>(operation: *mut c_void) {
    // SAFETY: a hook of this hierarchy.
    let agent: &Agent = unsafe { agent::<H>() };
    // One that also runs between threads at work retires nothing.
    if agent.heap.is_at_safepoint() {
        agent.retire_buffers();
    }
    // SAFETY: an object of a class with virtual functions begins with the address of its vtable.
    let vtable = unsafe { *operation.cast::<usize>() };
    // There is one: a class whose entry was not exchanged does not come here.
    if let Some(pause) = agent.originals.pauses.iter().find(|pause| pause.vtable == vtable) {
        // SAFETY: HotSpot's own argument, handed on to the function that was meant.
        unsafe { pause.doit.original()(operation) };
    }
}

/// For `CollectedHeap::supports_inline_contig_alloc()` of JDK 11 and 17 without TLABs: compiled code must not take memory from eden past
/// the buffers.
///
/// # Safety
/// Called by HotSpot only.
pub(crate) unsafe extern "C" fn supports_inline_contig_alloc(_heap: *const c_void) -> bool {
    false
}

#[cfg(test)]
#[allow(clippy::disallowed_types, reason = "what the functions behind the hooks were called with")]
mod tests {
    use super::*;
    use crate::agent::{Originals, publish_originals};
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicI32, Ordering};

    static TRACED: AtomicI32 = AtomicI32::new(-1);
    static WALKED: AtomicI32 = AtomicI32::new(-1);

    unsafe extern "C" fn no_memory(_: *mut c_void, _: usize, _: usize, _: *mut usize) -> *mut c_void {
        null_mut()
    }
    unsafe extern "C" fn no_object(_: *mut c_void, _: usize, _: *mut bool) -> *mut c_void {
        null_mut()
    }
    unsafe extern "C" fn nothing_left(_: *const c_void, _: *mut c_void) -> usize {
        0
    }
    unsafe extern "C" fn walk(_: *mut c_void, retire_tlabs: bool) {
        WALKED.store(retire_tlabs.into(), Ordering::Relaxed);
    }
    unsafe extern "C" fn trace(_: *mut c_void, when: i32, _: *const c_void) {
        TRACED.store(when, Ordering::Relaxed);
    }

    /// A thread that was on its way into a hook when the agent went.
    #[test]
    fn a_late_hook_without_an_agent_is_hotspots_own_function() {
        publish_originals(Box::leak(Box::new(Originals {
            allocate_new_tlab: no_memory,
            mem_allocate: no_object,
            unsafe_max_tlab_alloc: nothing_left,
            ensure_parsability: Some(walk),
            trace_heap: Some(trace),
            pauses: Vec::new(),
        })));
        assert!(agent_if_installed().is_none());
        // SAFETY: what is behind the hooks looks at no heap.
        unsafe { ensure_parsability(null_mut(), true) };
        for when in [BEFORE_GC, BEFORE_GC + 1] {
            // SAFETY: as above.
            unsafe { trace_heap(null_mut(), when, null_mut()) };
            assert_eq!(TRACED.load(Ordering::Relaxed), when);
        }
        assert_eq!(WALKED.load(Ordering::Relaxed), 1);
    }
}
