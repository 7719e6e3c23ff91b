//! The slow path: steps 2 to 4 of a request.

use super::{Level, REQUESTS_PER_BUFFER};
use crate::atomics::Atomics;
use crate::buffer::Carve;
use crate::{Access, Buffer, Counter, CpuIndex, Extent, Source};

/// A tail up to this fraction of a buffer may be given up at once (HotSpot's `TLABRefillWasteFraction` is 64, too).
const WASTE_FRACTION: usize = 64;

/// How the attempt to refill a buffer ended.
pub(super) enum Refill {
    /// With bytes for the request.
    Served(Extent),
    /// Another thread is refilling.
    Busy,
    /// Its tail is too large to be given up.
    Kept,
    /// The upper source has not enough.
    Refused,
}

impl<A: Access, S: Source, M: Atomics> Level<'_, A, S, M> {
    /// Steps 2 to 4 of a request that the own buffer could not serve at once.
    #[cold]
    #[inline(never)]
    pub(super) fn allocate_slowly(
        &self,
        cpu: CpuIndex,
        domain: usize,
        min: usize,
        desired: usize,
    ) -> Option<Extent> {
        // Whether the tails have not been looked at. What is available was a hint: the upper source may refuse, and whoever asked would
        // then take the tails object by object.
        let mut unseen = true;
        if desired <= self.size() / REQUESTS_PER_BUFFER {
            match self.refill(cpu, domain, min, desired) {
                Refill::Served(extent) => {
                    self.count_served(domain, Counter::Buffers, Counter::BufferBytes, extent.bytes);
                    return Some(extent);
                }
                // The request's own affair, as long as the upper source can serve it: others' buffers are left alone.
                Refill::Kept if self.upper.available(cpu) >= desired => {}
                // The own spare buffers may hold enough where the first one keeps a tail that does not suffice.
                Refill::Kept | Refill::Busy | Refill::Refused => {
                    if let Some(extent) = self.take_tails(domain, min, desired) {
                        return Some(extent);
                    }
                    unseen = false;
                }
            }
        }
        let Some(extent) = self.upper.serve(cpu, min, desired) else {
            // Behind `serve` nothing may be refilled: whoever takes buffers away while a thread waits there relies on that.
            return if unseen { self.take_tails(domain, min, desired) } else { None };
        };
        self.counters[domain].add(Counter::Direct, 1);
        self.counters[domain].add(Counter::DirectBytes, extent.bytes as u64);
        Some(extent)
    }

    /// From what any domain's buffers hold, the own ones first, without a refill.
    fn take_tails(&self, domain: usize, min: usize, desired: usize) -> Option<Extent> {
        self.carve_own(domain, min, desired).or_else(|| self.steal(domain, min, desired))
    }

    /// From what the own domain's buffers hold, without a refill.
    fn carve_own(&self, domain: usize, min: usize, desired: usize) -> Option<Extent> {
        let extent = self.carve_any(&self.domains[domain].buffers, min, desired)?;
        self.count_served(domain, Counter::Buffers, Counter::BufferBytes, extent.bytes);
        Some(extent)
    }

    /// Step 2: gives the own buffer, or else a spare one, a new extent and takes the request from it.
    pub(super) fn refill(&self, cpu: CpuIndex, domain: usize, min: usize, desired: usize) -> Refill {
        for buffer in &self.domains[domain].buffers {
            match self.refill_one(buffer, cpu, domain, min, desired) {
                Refill::Busy => {}
                end => return end,
            }
        }
        Refill::Busy
    }

    fn refill_one(
        &self,
        buffer: &Buffer<A, M>,
        cpu: CpuIndex,
        domain: usize,
        min: usize,
        desired: usize,
    ) -> Refill {
        let frame = self.frame;
        let tail = loop {
            match buffer.carve(frame, min, desired) {
                Carve::Served(extent) => return Refill::Served(extent),
                Carve::Refilling => return Refill::Busy,
                // Keep a large tail, for requests that it fits; each time that it is in the way it has to be larger to stay.
                // (Multiplied first: the limit of a tiny buffer must not be stuck at 0.)
                Carve::Short { rest } if rest > self.size() * buffer.patience() / WASTE_FRACTION => {
                    buffer.lose_patience();
                    return Refill::Kept;
                }
                Carve::Short { rest } => {
                    if let Some(tail) = buffer.claim(frame, rest) {
                        break tail;
                    }
                }
            }
        };
        // From here to `publish` this thread owns the buffer, across any collection. The tail is given up first: the upper source
        // may collect, and then nobody else would know of it.
        self.retire_tail(domain, tail, Counter::WasteRefill);
        let extent = self.take_spare(domain, min).or_else(|| self.fetch(cpu, domain, min, desired));
        let (mine, rest) = match extent {
            Some(extent) => extent.split(frame.shape.cut(extent.bytes, min, desired)),
            None => (frame.nothing(), frame.nothing()),
        };
        buffer.publish(frame, rest);
        if mine.bytes > 0 { Refill::Served(mine) } else { Refill::Refused }
    }

    /// What is left in a spare buffer that can serve the request. A shorter tail stays: it serves others, or is given up by its own refill.
    fn take_spare(&self, domain: usize, min: usize) -> Option<Extent> {
        for spare in &self.domains[domain].buffers[1..] {
            if spare.rest(self.frame) < min.max(1) {
                continue;
            }
            let tail = spare.take(self.frame);
            if tail.bytes > 0 && tail.bytes >= min {
                return Some(tail);
            }
            // Others took of it in between.
            self.retire_tail(domain, tail, Counter::WasteRefill);
        }
        None
    }

    /// Gets an extent from the upper source.
    fn fetch(&self, cpu: CpuIndex, domain: usize, min: usize, desired: usize) -> Option<Extent> {
        let shape = self.frame.shape;
        // Not more than is free: the upper source would rather collect than give less. Where hardly the request fits, the request
        // itself has to decide what happens (step 4), as if there were no buffers: an extent a little larger than the request
        // cannot be cut so that the remainder takes a filler, and would be lost to it.
        let size = self.size().min(shape.floor(self.upper.available(cpu)));
        if size < desired + shape.min_remainder {
            return None;
        }
        // At least a filler: whatever the request leaves of the extent may have to be retired.
        let extent = self.upper.acquire(cpu, min.max(shape.min_remainder), size)?;
        let counters = &self.counters[domain];
        counters.add(Counter::Refills, 1);
        counters.add(Counter::RefillBytes, extent.bytes as u64);
        let (extent, surplus) = extent.split(shape.floor(extent.bytes).min(shape.max_buffer()));
        self.retire_tail(domain, surplus, Counter::WasteAlignment);
        Some(extent)
    }

    /// Step 3: takes from the tails of other domains: first of the own group, then of the others, each in a ring.
    pub(super) fn steal(&self, domain: usize, min: usize, desired: usize) -> Option<Extent> {
        if !A::SHARED {
            return None;
        }
        let groups = &self.layout.group_of_domain;
        let count = self.domains.len();
        for near in [true, false] {
            for step in 1..count {
                let other = (domain + step) % count;
                if (groups[other] == groups[domain]) != near {
                    continue;
                }
                if let Some(extent) = self.carve_any(&self.domains[other].buffers, min, desired) {
                    self.counters[domain].add(Counter::Stolen, 1);
                    self.counters[domain].add(Counter::StolenBytes, extent.bytes as u64);
                    return Some(extent);
                }
            }
        }
        None
    }

    pub(super) fn retire_tail(&self, domain: usize, tail: Extent, cause: Counter) {
        if tail.bytes > 0 {
            self.upper.retire(tail);
            self.counters[domain].add(cause, tail.bytes as u64);
        }
    }
}
