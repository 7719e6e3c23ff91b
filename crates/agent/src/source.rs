//! HotSpot's heap as a source of extents.

use control::Control;
use hab::{CpuIndex, Extent, Source};
use hotspot::heap::Heap;
use std::time::Duration;

/// The heap below all levels. Its methods run in hooks: on a Java thread in VM state, or on the VM thread at a safepoint.
pub(crate) struct HeapSource {
    heap: &'static Heap,
    control: &'static Control,
    /// What has others' wishes for sizes come into force.
    take_sizes: fn(),
    /// The largest extent that the collector accepts, in bytes.
    largest: usize,
    /// For tests: makes a refill long. Before the heap is asked, so that what was free may be gone, and the heap collects; and after,
    /// so that others find the buffer being refilled.
    delay: Duration,
}

impl HeapSource {
    pub(crate) fn new(
        heap: &'static Heap,
        control: &'static Control,
        take_sizes: fn(),
        largest: usize,
        delay: Duration,
    ) -> HeapSource {
        HeapSource { heap, control, take_sizes, largest, delay }
    }

    /// Bytes that a request could get, given that HotSpot tells `available`: with G1 a region that has not been begun serves a request that
    /// what is left of the present one does not.
    pub(crate) fn reach(&self, available: usize) -> usize {
        // SAFETY: in a hook, so on a thread that HotSpot knows.
        available.max(unsafe { self.heap.in_whole_regions() }.min(self.largest))
    }

    #[inline(always)]
    fn linger(&self) {
        if !self.delay.is_zero() {
            std::thread::sleep(self.delay);
        }
    }
}

impl Source for &'static HeapSource {
    #[inline(never)]
    fn acquire(&self, _cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        self.linger();
        if !self.control.has_taken_sizes() {
            (self.take_sizes)();
        }
        // SAFETY: in a hook of `allocate_new_tlab` or `mem_allocate`, so on a Java thread in VM state; the hierarchy holds no lock;
        // sizes are whole grains, and `desired` is at most the level's size, which is limited to the largest TLAB, or HotSpot's own
        // request.
        let (start, bytes) = unsafe { self.heap.allocate(min, desired) }?;
        self.linger();
        Some(Extent { start, bytes })
    }

    fn available(&self, _cpu: CpuIndex) -> usize {
        // SAFETY: in a hook, so on a thread that HotSpot knows.
        unsafe { self.heap.available() }.min(self.largest)
    }

    fn retire(&self, tail: Extent) {
        // SAFETY: in a hook or in GarbageCollectionStart, so on a Java thread in VM state or on the VM thread at a safepoint; the
        // hierarchy gives each tail back once, and no remainder is smaller than a filler.
        unsafe { self.heap.fill(tail.start, tail.bytes) };
    }
}
