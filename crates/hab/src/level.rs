//! A rank of buffers, one for each domain, over an upper source.
//!
//! A request for a thread's buffer goes through at most these steps, each of which may end it; other [`Request`]s through some of them:
//!
//! 1. carve from the own domain's buffer (the fast path);
//! 2. refill that buffer, if its tail is small enough to be given up; if another thread is at it, the same with the domain's spare
//!    buffers: a thread that lost its CPU while it refills must not send all others of its domain past the buffers;
//! 3. take from another domain's tail, nearest domain first, never refilling it;
//! 4. pass the request itself to the upper source. Where the own tail was kept and the upper source seemed to have enough, this comes first,
//!    and 3 only if it refuses after all. A request for more than half a buffer begins here; refused, it takes what the own buffers and others' hold.
//!
//! No step waits for another thread, and nothing is held while the upper source is at work.

mod domain;
mod refill;
mod tails;

use crate::atomics::{Atomics, Ordering, Processor, Word};
use crate::buffer::{Carve, Frame};
use crate::request::Policy;
use crate::{Access, Buffer, Counter, Counters, CpuIndex, Extent, Request, Shape, Source, State};
use alloc::boxed::Box;
use core::ops::Range;
use domain::Domain;
pub use domain::{BUFFERS_PER_DOMAIN, Layout};
use refill::Refill;

/// A rank of buffers.
///
/// `Level<Shared, Heap>` is the paper's three-level hierarchy (thread, core or processor, heap); a
/// `Level<Shared, Level<Shared, Heap>>` has four levels.
#[derive(Debug)]
pub struct Level<'a, A, S, M: Atomics = Processor> {
    frame: Frame,
    /// Bytes of a full buffer.
    size: M::Relaxed,
    layout: Layout,
    domains: Box<[Domain<A, M>]>,
    counters: &'a [Counters<M>],
    upper: S,
}

/// A buffer smaller than this many requests would be refilled all the time; such requests go to the upper source.
const REQUESTS_PER_BUFFER: usize = 2;

impl<'a, A: Access, S: Source, M: Atomics> Level<'a, A, S, M> {
    /// A level of empty buffers of `size` bytes (rounded down to grains; cut to what a buffer's word can hold).
    ///
    /// All extents of `upper` must lie behind `base`, within [`Shape::max_span`] bytes.
    ///
    /// # Panics
    /// If `counters` does not have one entry for each domain, or a CPU's domain does not exist.
    pub fn new(
        base: usize,
        shape: Shape,
        size: usize,
        layout: Layout,
        counters: &'a [Counters<M>],
        upper: S,
    ) -> Self {
        let domains = layout.group_of_domain.len();
        assert!(domains > 0 && counters.len() == domains, "one entry of counters for each domain");
        assert!(
            layout.domain_of_cpu.iter().all(|domain| usize::from(domain.0) < domains),
            "domains must exist"
        );
        let domains = (0..domains).map(|_| Domain::new()).collect();
        let frame = Frame { base, shape };
        let level = Level { frame, size: M::Relaxed::new(0), layout, domains, counters, upper };
        level.resize(size);
        level
    }

    /// Bytes of a full buffer.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.size.load(Ordering::Relaxed) as usize
    }

    /// Changes the size of buffers from the next refill on.
    pub fn resize(&self, size: usize) {
        let size = self.frame.shape.floor(size).min(self.frame.shape.max_buffer());
        self.size.store(size as u64, Ordering::Relaxed);
    }

    /// The source below which this level stands.
    pub fn upper(&self) -> &S {
        &self.upper
    }

    /// The domain of a CPU.
    #[inline(always)]
    pub fn domain(&self, cpu: CpuIndex) -> usize {
        match self.layout.domain_of_cpu.get(cpu.0 as usize) {
            Some(domain) => usize::from(domain.0),
            None => self.domains.len() - 1,
        }
    }

    /// Serves a request, as far as its kind allows to go for it.
    #[inline(always)]
    pub fn allocate(&self, cpu: CpuIndex, request: Request) -> Option<Extent> {
        let Request { min, desired, policy } = request;
        debug_assert!(self.frame.shape.floor(min) == min && self.frame.shape.floor(desired) == desired);
        let domain = self.domain(cpu);
        match policy {
            Policy::Buffer => self.allocate_buffer(cpu, domain, min, desired),
            Policy::Object => self.carve_object(domain, desired),
            Policy::ObjectWithRefill => {
                self.carve_object(domain, desired).or_else(|| self.refill_for_object(cpu, domain, desired))
            }
            Policy::ObjectFromTails => self.carve_object_from_tails(domain, desired),
        }
    }

    #[inline(always)]
    fn allocate_buffer(&self, cpu: CpuIndex, domain: usize, min: usize, desired: usize) -> Option<Extent> {
        // What wraps is looked at again where it matters: no buffer holds so much.
        if desired.wrapping_mul(REQUESTS_PER_BUFFER) <= self.size()
            && let Carve::Served(extent) = self.domains[domain].first().carve(self.frame, min, desired)
        {
            self.count_served(domain, Counter::Buffers, Counter::BufferBytes, extent.bytes);
            return Some(extent);
        }
        self.allocate_slowly(cpu, domain, min, desired)
    }

    #[inline(always)]
    fn carve_object(&self, domain: usize, bytes: usize) -> Option<Extent> {
        let Carve::Served(extent) = self.domains[domain].first().carve(self.frame, bytes, bytes) else {
            return None;
        };
        self.count_served(domain, Counter::Objects, Counter::ObjectBytes, extent.bytes);
        Some(extent)
    }

    #[cold]
    #[inline(never)]
    fn carve_object_from_tails(&self, domain: usize, bytes: usize) -> Option<Extent> {
        if let Some(extent) = self.carve_any(&self.domains[domain].buffers[1..], bytes, bytes) {
            self.count_served(domain, Counter::Objects, Counter::ObjectBytes, extent.bytes);
            return Some(extent);
        }
        self.steal(domain, bytes, bytes)
    }

    /// From the first of these buffers that can serve it, without a refill.
    fn carve_any(&self, buffers: &[Buffer<A, M>], min: usize, desired: usize) -> Option<Extent> {
        buffers.iter().find_map(|buffer| match buffer.carve(self.frame, min, desired) {
            Carve::Served(extent) => Some(extent),
            Carve::Refilling | Carve::Short { .. } => None,
        })
    }

    #[cold]
    #[inline(never)]
    fn refill_for_object(&self, cpu: CpuIndex, domain: usize, bytes: usize) -> Option<Extent> {
        if bytes > self.size() / REQUESTS_PER_BUFFER {
            return None;
        }
        let Refill::Served(extent) = self.refill(cpu, domain, bytes, bytes) else { return None };
        self.count_served(domain, Counter::Objects, Counter::ObjectBytes, extent.bytes);
        Some(extent)
    }

    #[inline(always)]
    fn count_served(&self, domain: usize, events: Counter, sum: Counter, bytes: usize) {
        let counters = &self.counters[domain];
        if domain < self.layout.exclusive {
            counters.add_plainly(events, 1);
            counters.add_plainly(sum, bytes as u64);
        } else {
            counters.add(events, 1);
            counters.add(sum, bytes as u64);
        }
    }

    /// Counts a request that the upper source has served past this level's buffers.
    #[cold]
    pub fn count_direct(&self, cpu: CpuIndex, bytes: usize) {
        let counters = &self.counters[self.domain(cpu)];
        counters.add(Counter::Direct, 1);
        counters.add(Counter::DirectBytes, bytes as u64);
    }

    /// Counts a foreign allocation if a request that began on CPU `before` ended on CPU `after` of another domain.
    #[inline(always)]
    pub fn count_migration(&self, before: CpuIndex, after: CpuIndex) {
        if before != after {
            self.count_foreign(before, after);
        }
    }

    #[cold]
    fn count_foreign(&self, before: CpuIndex, after: CpuIndex) {
        let domain = self.domain(before);
        if domain != self.domain(after) {
            self.counters[domain].add(Counter::Foreign, 1);
        }
    }

    /// Bytes that one request could find in the own domain's buffers at this moment.
    pub fn rest(&self, cpu: CpuIndex) -> usize {
        self.domains[self.domain(cpu)].largest_rest(self.frame)
    }

    fn each_buffer(&self) -> impl Iterator<Item = (usize, &Buffer<A, M>)> {
        self.domains
            .iter()
            .enumerate()
            .flat_map(|(number, domain)| domain.buffers.iter().map(move |buffer| (number, buffer)))
    }

    /// The largest tail in any domain at this moment, in bytes.
    pub fn largest_tail(&self) -> usize {
        self.domains.iter().map(|domain| domain.largest_rest(self.frame)).max().unwrap_or(0)
    }

    /// The largest request that is served from a buffer, in bytes.
    fn largest_served(&self) -> usize {
        self.frame.shape.floor(self.size() / REQUESTS_PER_BUFFER)
    }

    /// Whether an upper source with `available` bytes has enough for whatever a buffer would serve.
    #[inline(always)]
    pub fn is_enough(&self, available: usize) -> bool {
        available >= self.largest_served()
    }

    /// Bytes that a request could get, given that the upper source has `available`: that, or what the own buffer would serve, or,
    /// where both are short, what any other buffer would. Never more than a buffer serves: a larger request would go to the upper
    /// source, and if that has less, make it collect.
    pub fn reach(&self, cpu: CpuIndex, available: usize) -> usize {
        // The usual case: the upper source has enough, and no buffer is looked at.
        if self.is_enough(available) {
            return available;
        }
        let served = self.largest_served();
        let near = available.max(self.rest(cpu).min(served));
        if near >= served || !A::SHARED { near } else { near.max(self.largest_tail().min(served)) }
    }

    /// What each domain's buffers hold at this moment.
    pub fn states(&self) -> impl Iterator<Item = State> + '_ {
        self.each_buffer().map(|(_, buffer)| buffer.state(self.frame))
    }

    /// The addresses at which a domain's buffers lie: for who watches the memory.
    pub fn buffer_addresses(&self, domain: usize) -> Range<usize> {
        let start = (&raw const self.domains[domain]).addr();
        start..start + size_of::<Domain<A, M>>()
    }

    /// The counters of each domain.
    pub fn counters(&self) -> &[Counters<M>] {
        self.counters
    }

    /// Retires every buffer for a collection or a heap walk; a refill under way is left to its owner.
    pub fn retire_buffers(&self) {
        for (domain, buffer) in self.each_buffer() {
            self.retire_tail(domain, buffer.take(self.frame), Counter::WasteCollection);
            if buffer.state(self.frame) == State::Refilling {
                self.counters[domain].add(Counter::Overlapped, 1);
            }
        }
    }

    /// Bytes that the buffers hold at this moment. Other threads may be at work: exact only while none is.
    pub fn remaining(&self) -> usize {
        self.each_buffer().map(|(_, buffer)| buffer.rest(self.frame)).sum()
    }
}

/// A level is the upper source of the level below it.
impl<A: Access, S: Source, M: Atomics> Source for Level<'_, A, S, M> {
    fn acquire(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        self.allocate(cpu, Request::buffer(min, desired))
    }

    fn available(&self, cpu: CpuIndex) -> usize {
        self.reach(cpu, self.upper.available(cpu))
    }

    fn retire(&self, tail: Extent) {
        self.upper.retire(tail);
    }
}

#[cfg(test)]
#[path = "level_test.rs"]
mod tests;
