//! The simulated heap: one top that all threads share.

use crate::machine::Picoseconds;
use crate::programs::Line;
use crate::simulation::work;
use crate::watched::{AtomicU64, Ordering};
use hab::{CpuIndex, Extent, Source};
use std::cell::Cell;
use std::ops::Range;

/// Eden, as HotSpot's parallel collector hands it out: by compare and swap on its top.
#[derive(Debug)]
pub struct Heap {
    top: Line<AtomicU64>,
    /// Read with each request, written by nobody.
    end: Line<AtomicU64>,
    start: usize,
    end_address: usize,
    /// What it takes to come here and back, besides the accesses.
    call: Picoseconds,
    lost: Cell<u64>,
    requests: Cell<u64>,
}

impl Heap {
    /// A heap of `bytes` behind address `start`; each request takes `call` besides its accesses.
    pub fn new(start: usize, bytes: usize, call: Picoseconds) -> Heap {
        Heap {
            top: Line(AtomicU64::new(start as u64)),
            end: Line(AtomicU64::new((start + bytes) as u64)),
            start,
            end_address: start + bytes,
            call,
            lost: Cell::new(0),
            requests: Cell::new(0),
        }
    }

    /// Where its top lies, and where its end does, in memory.
    pub fn addresses(&self) -> [Range<usize>; 2] {
        [self.top.addresses(), self.end.addresses()]
    }

    /// Compare and swaps that found another value.
    pub fn lost(&self) -> u64 {
        self.lost.get()
    }

    /// Requests.
    pub fn requests(&self) -> u64 {
        self.requests.get()
    }

    /// Bytes handed out since the last [`Heap::empty`].
    pub fn used(&self) -> usize {
        // Not by the simulated word: nobody pays for this look.
        self.top.0.peek() as usize - self.start
    }

    /// `min` to `desired` bytes from the top.
    pub fn take(&self, min: usize, desired: usize) -> Option<Extent> {
        self.requests.set(self.requests.get() + 1);
        loop {
            let at = self.top.0.load(Ordering::Acquire);
            let end = self.end.0.load(Ordering::Relaxed);
            let bytes = desired.min((end - at) as usize);
            if bytes < min || bytes == 0 {
                return None;
            }
            let new = at + bytes as u64;
            if self.top.0.compare_exchange(at, new, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return Some(Extent { start: at as usize, bytes });
            }
            self.lost.set(self.lost.get() + 1);
        }
    }

    /// After a collection: all of it is free again. All threads wait.
    pub fn empty(&self) {
        self.top.0.store(self.start as u64, Ordering::Release);
    }
}

impl Source for &Heap {
    fn acquire(&self, _: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        work(self.call);
        self.take(min, desired)
    }

    fn available(&self, _: CpuIndex) -> usize {
        self.end_address - self.start - self.used()
    }

    fn retire(&self, _: Extent) {}
}
