//! `levels=none`: hooks that count what they pass on, and with `times=true` time it: all requests where they are rare or slow, a sample of them where they are neither
//! (`control::times`).
//!
//! They hold no memory of the heap, so that HotSpot's own functions can be put back at any time: at once on attach (`withdraw=true`), and with the
//! next request or collection after a word in the control memory. Threads may be in the hooks for as long as they like. Whether requests are timed is a matter of which hooks are put in place, not of a branch in them.
#![allow(clippy::disallowed_types, reason = "the observer is found by all threads through one pointer")]

use crate::agent::{Observed, Originals, come_through_the_table};
use crate::clock::{Clock, Monotonic};
use crate::in_place::InPlace;
use crate::refills::{self, Place, Refill, Waited, Watch};
use crate::thread_waste::ThreadLooks;
use control::large::NOT_LARGE;
use control::times::{Kind, Look, Times, Way};
use control::{Control, State};
use hab::{Counter, CpuIndex};
use hotspot::WORD;
use hotspot::collector::Lock;
use hotspot::functions::Functions;
use hotspot::patch::Exchange;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use topology::{CpuSource, own_thread_name};

/// What the hooks work with: made once, never changed, never freed.
pub(crate) struct Observer {
    pub(crate) control: &'static Control,
    pub(crate) cpu_source: CpuSource,
    pub(crate) observed: Observed,
    /// For each domain; empty if nothing is timed.
    pub(crate) times: &'static [Times],
    pub(crate) originals: Originals,
    /// Where the heap begins.
    pub(crate) base: usize,
    pub(crate) lock: Lock,
    /// What requests are timed by.
    pub(crate) now: fn() -> u64,
    /// A moment by that clock, and by `CLOCK_MONOTONIC`.
    pub(crate) since: (u64, u64),
    /// For refills that are recorded.
    pub(crate) watch: Watch,
    pub(crate) pauses: Pauses,
    /// `None` if nothing is timed, or pauses do not end with the work on TLABs.
    pub(crate) threads: Option<ThreadLooks>,
    pub(crate) in_place: &'static InPlace,
}

/// When the collector's last pauses were announced, in ticks, each where its number leads.
pub(crate) struct Pauses([AtomicU64; 64]);

impl Pauses {
    pub(crate) fn none() -> Pauses {
        Pauses([const { AtomicU64::new(0) }; 64])
    }

    fn begin(&self, number: u64, ticks: u64) {
        // Relaxed: who looks for it was held back by the safepoint at which this is written.
        self.0[number as usize % self.0.len()].store(ticks, Ordering::Relaxed);
    }

    /// The first of those with the numbers `from` up to `to`, as long as it is remembered.
    fn first(&self, from: u64, to: u64) -> Option<u64> {
        let word = &self.0[from as usize % self.0.len()];
        (to.wrapping_sub(from) <= self.0.len() as u64).then(|| word.load(Ordering::Relaxed))
    }
}

/// The one that the hooks work with.
static OBSERVER: AtomicPtr<Observer> = AtomicPtr::new(null_mut());

/// Makes the observer known to its hooks.
pub(crate) fn publish(observer: &'static Observer) {
    // Release: who finds it sees all of it.
    OBSERVER.store(std::ptr::from_ref(observer).cast_mut(), Ordering::Release);
}

/// A pause of the collector is announced, and not yet counted.
pub(crate) fn pause() {
    // SAFETY: null, or stored by `publish` and never freed.
    let Some(observer) = (unsafe { OBSERVER.load(Ordering::Acquire).as_ref() }) else { return };
    let now = (observer.now)();
    observer.pauses.begin(observer.control.pauses(), now);
    if let Some(threads) = observer.threads() {
        // SAFETY: checked there.
        unsafe { threads.begin(now) };
    }
}

/// The pause is over.
pub(crate) fn pause_ends() {
    // SAFETY: null, or stored by `publish` and never freed.
    let Some(observer) = (unsafe { OBSERVER.load(Ordering::Acquire).as_ref() }) else { return };
    if let Some(threads) = observer.threads() {
        // SAFETY: checked there; the events of a pause come at one safepoint.
        unsafe { threads.end(observer.control) };
    }
}

/// The observer, in one of its hooks.
///
/// # Safety
/// Only from hooks, which are in place only after it was published.
#[inline(always)]
unsafe fn observer() -> &'static Observer {
    come_through_the_table();
    // Acquire: pairs with the release in `publish`.
    // SAFETY: stored before any hook was put in place, and never freed.
    unsafe { &*OBSERVER.load(Ordering::Acquire) }
}

/// All hooks, for this clock.
pub(crate) fn exchanges<C: Clock>(functions: &Functions) -> Vec<Exchange> {
    let parsability = functions.ensure_parsability.iter().map(|slot| slot.exchange_for(ensure_parsability));
    let mut exchanges: Vec<Exchange> = parsability.collect();
    exchanges.push(functions.mem_allocate.exchange_for(mem_allocate::<C>));
    exchanges.push(functions.allocate_new_tlab.exchange_for(allocate_new_tlab::<C>));
    exchanges
}

/// A request under way, where requests are timed.
#[derive(Clone, Copy)]
struct Begun {
    look: Look,
    pauses: u64,
    /// Of no use when it is only counted.
    ticks: u64,
}

impl Observer {
    /// What looks at threads, on the VM thread at a safepoint. Pauses are announced when it has withdrawn, too.
    fn threads(&self) -> Option<&ThreadLooks> {
        let heap = self.watch.heap;
        // SAFETY: JVMTI's events come on threads that HotSpot knows.
        let is_safe = || heap.is_at_safepoint() && unsafe { heap.is_on_vm_thread() };
        self.threads.as_ref().filter(|_| self.control.state() == Some(State::Observing) && is_safe())
    }

    #[inline(always)]
    fn domain(&self) -> usize {
        self.observed.domain(CpuIndex(self.cpu_source.current().0))
    }

    #[inline(always)]
    fn begin<C: Clock>(&self) -> Option<Begun> {
        C::NAME?;
        let look = self.times.get(self.domain())?.look(C::PACE);
        let pauses = self.control.pauses();
        let ticks = match look {
            Look::Timed => C::now(),
            Look::IfSlow => C::about_now(),
            Look::Counted => 0,
        };
        Some(Begun { look, pauses, ticks })
    }

    /// Counts what was passed on: `bytes` at `start`, or nothing at 0.
    #[inline(always)]
    fn end<C: Clock>(&self, begun: Option<Begun>, kind: Kind, start: usize, bytes: usize) {
        let domain = self.domain();
        let alone = domain < self.observed.exclusive;
        if let (Some(begun), Some(times)) = (begun, self.times.get(domain)) {
            let way = if self.control.pauses() != begun.pauses {
                Way::Collection
            } else if self.lock.taken_for(start, self.base) {
                Way::Region
            } else {
                Way::Quick
            };
            if begun.look == Look::Timed
                || way == Way::Collection
                || (way, begun.look) == (Way::Region, Look::IfSlow)
            {
                self.time::<C>(times, begun, (kind, way), (bytes, alone));
            } else {
                times.pass(kind, way, alone);
            }
            if kind == Kind::Object && bytes > NOT_LARGE && start != 0 {
                times.large().record(bytes, alone);
            }
        }
        if start != 0
            && let Some(counters) = self.observed.counters.get(domain)
        {
            if alone {
                counters.add_plainly(Counter::Passed, 1);
                counters.add_plainly(Counter::PassedBytes, bytes as u64);
            } else {
                counters.add(Counter::Passed, 1);
                counters.add(Counter::PassedBytes, bytes as u64);
            }
        }
        if self.control.is_to_withdraw() {
            self.in_place.try_take_back();
        }
    }

    /// A request has ended that is to be timed.
    #[cold]
    #[inline(never)]
    fn time<C: Clock>(
        &self,
        times: &Times,
        begun: Begun,
        (kind, way): (Kind, Way),
        (bytes, alone): (usize, bool),
    ) {
        let now = C::now();
        let began = match begun.look {
            Look::Timed | Look::IfSlow => Some(begun.ticks),
            // It waited since the pause was announced, at least.
            Look::Counted => self.pauses.first(begun.pauses, self.control.pauses()),
        };
        match began {
            // A thread may have come from a CPU whose counter is a little ahead.
            Some(began) => {
                let took = now.saturating_sub(began);
                times.record(kind, way, took, alone);
                if kind == Kind::Tlab && refills::are_wanted() {
                    self.record_refill(now, took, way, bytes);
                }
            }
            None => times.pass(kind, way, alone),
        }
        self.in_place.lease.look();
        if begun.look == Look::Timed {
            times.follow(now, C::PACE);
        }
    }

    /// Counts a thread that requests its first TLAB.
    #[inline(always)]
    fn count_new_thread<C: Clock>(&self) {
        if let Some(threads) = self.control.new_threads() {
            threads.count(C::about_now, own_thread_name);
        }
    }

    /// Hands on a refill that took so many ticks up to `now`.
    fn record_refill(&self, now: u64, took: u64, way: Way, bytes: usize) {
        let (ticks, ns) = self.since;
        let end_ns = Monotonic::now();
        let ns_a_tick = (end_ns - ns) as f64 / now.saturating_sub(ticks).max(1) as f64;
        let took_ns = (took as f64 * ns_a_tick) as u64;
        self.watch.record(&Refill {
            start_ns: end_ns.saturating_sub(took_ns),
            took_ns,
            from: Place::Heap,
            to: Place::Thread,
            direct: true,
            waited: match way {
                Way::Quick => Waited::Unknown,
                Way::Region => Waited::Lock,
                Way::Collection => Waited::Collection,
            },
            bytes: bytes as u64,
            thread: 0,
        });
    }
}

/// For `CollectedHeap::allocate_new_tlab(min, requested, actual)`.
///
/// # Safety
/// Called by HotSpot only, once the observer is published.
unsafe extern "C" fn allocate_new_tlab<C: Clock>(
    heap: *mut c_void,
    min: usize,
    requested: usize,
    actual: *mut usize,
) -> *mut c_void {
    // SAFETY: in a hook.
    let observer = unsafe { observer() };
    // Before the request: HotSpot may refuse it, and give the thread a single object first.
    // SAFETY: in a hook of `allocate_new_tlab`, so on a Java thread.
    if C::NAME.is_some() && unsafe { observer.watch.heap.allocated_by_thread() } == 0 {
        observer.count_new_thread::<C>();
    }
    let begun = observer.begin::<C>();
    // SAFETY: HotSpot's own arguments, handed on to the function that was meant.
    let start = unsafe { (observer.originals.allocate_new_tlab)(heap, min, requested, actual) };
    // SAFETY: HotSpot passes a place for the answer, and has just written there if there is one.
    let words = if start.is_null() { 0 } else { unsafe { *actual } };
    observer.end::<C>(begun, Kind::Tlab, start as usize, words * WORD);
    start
}

/// For `CollectedHeap::mem_allocate(size, overhead_limit_was_exceeded)`.
///
/// # Safety
/// Called by HotSpot only, once the observer is published.
unsafe extern "C" fn mem_allocate<C: Clock>(
    heap: *mut c_void,
    size: usize,
    exceeded: *mut bool,
) -> *mut c_void {
    // SAFETY: in a hook.
    let observer = unsafe { observer() };
    let begun = observer.begin::<C>();
    // SAFETY: HotSpot's own arguments, handed on to the function that was meant.
    let start = unsafe { (observer.originals.mem_allocate)(heap, size, exceeded) };
    observer.end::<C>(begun, Kind::Object, start as usize, size * WORD);
    start
}

/// For `CollectedHeap::ensure_parsability(retire_tlabs)`.
///
/// # Safety
/// Called by HotSpot only, once the observer is published.
unsafe extern "C" fn ensure_parsability(heap: *mut c_void, retire_tlabs: bool) {
    // SAFETY: in a hook.
    let observer = unsafe { observer() };
    observer.control.count_parsability();
    if let Some(original) = observer.originals.ensure_parsability {
        // SAFETY: HotSpot's own arguments, handed on to the function that was meant.
        unsafe { original(heap, retire_tlabs) };
    }
}
