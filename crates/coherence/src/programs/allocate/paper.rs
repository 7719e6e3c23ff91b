//! The buffers as the paper has them, to compare with its tables: a top and an end for each domain, the top only changed by compare
//! and swap, and a mark in it while a thread refills. A thread that meets the mark goes on to the next buffer.

use super::heap::Heap;
use crate::programs::Line;
use crate::watched::{AtomicU64, Ordering};
use hab::{CpuIndex, Extent, Source};
use std::cell::Cell;

const EMPTY: u64 = 0;
const REFILL_IN_PROGRESS: u64 = 1;

/// Why a buffer did not serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refused {
    Refilling,
    HeapUsedUp,
}

#[derive(Debug)]
struct Buffer {
    top: AtomicU64,
    end: AtomicU64,
}

/// What a thread does whose buffer cannot be refilled because the heap is used up. The paper does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsedUp {
    /// Goes on to the next buffer, as when another thread refills.
    NextBuffer,
    /// Goes on to the next buffer, but not to a third one: asks the heap, and if that refuses has a collection begin.
    OneMore,
    /// Asks the heap, and if that refuses has a collection begin.
    Collect,
}

/// One buffer for each domain.
#[derive(Debug)]
pub struct PaperBuffers<'a> {
    buffers: Box<[Line<Buffer>]>,
    domain_of_cpu: Vec<usize>,
    size: usize,
    used_up: UsedUp,
    heap: &'a Heap,
    served: Cell<u64>,
    foreign: Cell<u64>,
    direct: Cell<u64>,
    refills: Cell<u64>,
}

impl<'a> PaperBuffers<'a> {
    /// Empty buffers of `size` bytes.
    pub fn new(domain_of_cpu: Vec<usize>, size: usize, used_up: UsedUp, heap: &'a Heap) -> PaperBuffers<'a> {
        let domains = domain_of_cpu.iter().max().map_or(0, |most| most + 1);
        let buffer = || Line(Buffer { top: AtomicU64::new(EMPTY), end: AtomicU64::new(EMPTY) });
        PaperBuffers {
            buffers: (0..domains).map(|_| buffer()).collect(),
            domain_of_cpu,
            size,
            used_up,
            heap,
            served: Cell::new(0),
            foreign: Cell::new(0),
            direct: Cell::new(0),
            refills: Cell::new(0),
        }
    }

    /// Where a domain's buffer lies in memory.
    pub fn addresses(&self, domain: usize) -> std::ops::Range<usize> {
        self.buffers[domain].addresses()
    }

    /// Domains.
    pub fn domains(&self) -> usize {
        self.buffers.len()
    }

    /// Requests served by buffers, those of them by another domain's buffer than that of the CPU on which they ended, requests passed
    /// to the heap, and refills.
    pub fn counts(&self) -> [u64; 4] {
        [self.served.get(), self.foreign.get(), self.direct.get(), self.refills.get()]
    }

    /// A request of exactly `bytes`; `here` is where the thread is when it is served.
    pub fn allocate(&self, cpu: CpuIndex, bytes: usize, here: impl Fn() -> CpuIndex) -> Option<Extent> {
        if bytes <= self.size {
            let first = self.domain_of_cpu[cpu.0 as usize];
            for number in 0..self.buffers.len() {
                let domain = (first + number) % self.buffers.len();
                let taken = self.take_from(&self.buffers[domain].0, bytes);
                let last = match self.used_up {
                    UsedUp::NextBuffer => usize::MAX,
                    UsedUp::OneMore => 1,
                    UsedUp::Collect => 0,
                };
                if taken == Err(Refused::HeapUsedUp) && number >= last {
                    break;
                }
                if let Ok(start) = taken {
                    self.served.set(self.served.get() + 1);
                    if self.domain_of_cpu[here().0 as usize] != domain {
                        self.foreign.set(self.foreign.get() + 1);
                    }
                    return Some(Extent { start, bytes });
                }
            }
        }
        self.direct.set(self.direct.get() + 1);
        self.heap.acquire(cpu, bytes, bytes)
    }

    fn take_from(&self, buffer: &Buffer, bytes: usize) -> Result<usize, Refused> {
        loop {
            let top = buffer.top.load(Ordering::Acquire);
            if top == REFILL_IN_PROGRESS {
                return Err(Refused::Refilling);
            }
            let end = buffer.end.load(Ordering::Acquire);
            if top != EMPTY && top + bytes as u64 <= end {
                let new = top + bytes as u64;
                if buffer.top.compare_exchange(top, new, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                    return Ok(top as usize);
                }
                continue;
            }
            if buffer
                .top
                .compare_exchange(top, REFILL_IN_PROGRESS, Ordering::AcqRel, Ordering::Relaxed)
                .is_err()
            {
                continue;
            }
            let Some(extent) = self.heap.acquire(CpuIndex(0), self.size, self.size) else {
                buffer.end.store(EMPTY, Ordering::Release);
                buffer.top.store(EMPTY, Ordering::Release);
                return Err(Refused::HeapUsedUp);
            };
            self.refills.set(self.refills.get() + 1);
            buffer.end.store(extent.end() as u64, Ordering::Release);
            buffer.top.store((extent.start + bytes) as u64, Ordering::Release);
            return Ok(extent.start);
        }
    }

    /// For a collection: all buffers are empty. All threads wait.
    pub fn empty(&self) {
        for buffer in &self.buffers {
            buffer.0.end.store(EMPTY, Ordering::Release);
            buffer.0.top.store(EMPTY, Ordering::Release);
        }
    }
}
