//! HotSpot's heap as a source of extents.

use control::{Control, Mode};
use hab::{CpuIndex, Extent, Shape, Source};
use hotspot::heap::Heap;
use std::time::Duration;

/// The heap below all levels. Its methods run in hooks: on a Java thread in VM state, or on the VM thread at a safepoint.
pub(crate) struct HeapSource {
    pub(crate) heap: &'static Heap,
    pub(crate) control: &'static Control,
    /// What has others' wishes for sizes come into force.
    pub(crate) take_sizes: fn(),
    /// The largest extent that the collector accepts, in bytes.
    pub(crate) largest: usize,
    pub(crate) shape: Shape,
    /// For tests: makes a refill long. Before the heap is asked, so that what was free may be gone, and the heap collects; and after,
    /// so that others find the buffer being refilled.
    pub(crate) delay: Duration,
}

impl HeapSource {
    #[inline(always)]
    fn linger(&self) {
        if !self.delay.is_zero() {
            std::thread::sleep(self.delay);
        }
    }

    /// What a refill gets whose buffers were switched off while the heap was asked: no more than it needs, so that nothing stays behind
    /// that nobody empties any more.
    #[inline(always)]
    fn cut(&self, extent: Extent, min: usize) -> Extent {
        let rest = Extent { start: extent.start + min, bytes: extent.bytes - min };
        if self.control.mode() != Mode::Off || rest.bytes < self.shape.min_remainder {
            return extent;
        }
        // SAFETY: in a hook, as `acquire` is; the range is part of an extent that nobody else has seen, of whole grains.
        unsafe { self.heap.fill(rest.start, rest.bytes) };
        Extent { bytes: min, ..extent }
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
        Some(self.cut(Extent { start, bytes }, min))
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
