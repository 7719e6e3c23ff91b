//! A heap of regions that knows the owner of each of its bytes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use terrace_hab::{CpuIndex, Extent, Shape, Source};

/// Where every heap begins; a multiple of any grain.
pub const BASE: usize = 1 << 30;

/// Serves from the current region what is left there, if it is enough, and else from the next, as a heap of regions does. A heap of
/// one region is a plain bump pointer. When no region is left, it collects (everything is garbage) or refuses.
pub struct Heap<'h> {
    shape: Shape,
    bytes: usize,
    region: usize,
    top: Cell<usize>,
    /// Handed out to the program, retired or given up by the heap: start and length.
    owners: RefCell<BTreeMap<usize, usize>>,
    /// Bytes that `acquire` gave and that `retire` got, since ever.
    totals: Cell<(usize, usize)>,
    /// Retires every buffer.
    collector: Cell<Option<&'h dyn Fn()>>,
    /// Whether a full heap collects, or refuses.
    collecting: Cell<bool>,
    collect_next: Cell<bool>,
    /// The one request for which a collection is in order.
    request: Cell<Option<(usize, usize)>>,
}

impl<'h> Heap<'h> {
    pub fn new(shape: Shape, bytes: usize, region: usize) -> Heap<'h> {
        Heap {
            shape,
            bytes,
            region: region.min(bytes),
            top: Cell::new(BASE),
            owners: RefCell::default(),
            totals: Cell::default(),
            collector: Cell::new(None),
            collecting: Cell::new(false),
            collect_next: Cell::new(false),
            request: Cell::new(None),
        }
    }

    /// A collection calls `collector` and starts afresh; a full heap collects if it is `collecting`.
    pub fn collect_with(&self, collector: &'h dyn Fn(), collecting: bool) {
        self.collector.set(Some(collector));
        self.collecting.set(collecting);
    }

    pub fn collect_during_next_acquire(&self) {
        self.collect_next.set(true);
    }

    fn collect(&self) {
        self.collector.get().expect("set before the first operation")();
        self.reset();
    }

    pub fn expect_request(&self, min: usize, desired: usize) {
        self.request.set(Some((min, desired)));
    }

    pub fn expect_no_collection(&self) {
        self.request.set(None);
    }

    /// What one request could get, at most: from the current region, and from a later one.
    fn free(&self) -> (usize, usize) {
        let used = self.top.get() - BASE;
        let next = used.next_multiple_of(self.region).min(self.bytes);
        (next - used, (self.bytes - next).min(self.region))
    }

    pub fn could_serve(&self, min: usize) -> bool {
        let (current, later) = self.free();
        current.max(later) >= min || (self.collecting.get() && min <= self.region)
    }

    /// Takes all but `leave` bytes, for somebody else.
    pub fn exhaust(&self, leave: usize) {
        let (start, end) = (self.top.get(), BASE + self.bytes - leave.min(self.bytes));
        if start < end {
            self.top.set(end);
            self.own(Extent { start, bytes: end - start });
        }
    }

    /// Forgets everything, as after a collection.
    pub fn reset(&self) {
        self.top.set(BASE);
        self.owners.borrow_mut().clear();
    }

    /// Makes `extent` somebody's, for good.
    pub fn own(&self, extent: Extent) {
        self.check_free(extent);
        self.owners.borrow_mut().insert(extent.start, extent.bytes);
    }

    /// Panics unless `extent` is aligned, reserved and nobody's.
    pub fn check_free(&self, extent: Extent) {
        let mask = self.shape.grain() - 1;
        assert!(extent.bytes > 0 && (extent.start | extent.bytes) & mask == 0, "{extent:?} is not aligned");
        assert!(extent.start >= BASE && extent.end() <= self.top.get(), "{extent:?} is not reserved");
        if let Some((&start, &bytes)) = self.owners.borrow().range(..extent.end()).next_back() {
            assert!(start + bytes <= extent.start, "{extent:?} overlaps {bytes} bytes at {start}");
        }
    }

    pub fn reserved(&self) -> usize {
        self.top.get() - BASE
    }

    pub fn owned(&self) -> usize {
        self.owners.borrow().values().sum()
    }

    pub fn handed_out(&self) -> usize {
        self.totals.get().0
    }

    pub fn retired(&self) -> usize {
        self.totals.get().1
    }

    fn take(&self, bytes: usize) -> Extent {
        let start = self.top.get();
        self.top.set(start + bytes);
        Extent { start, bytes }
    }
}

impl Source for Heap<'_> {
    fn acquire(&self, _cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        assert!(0 < min && min <= desired, "{min} to {desired} bytes asked for");
        if self.collect_next.take() {
            self.collect();
        }
        let (current, later) = self.free();
        if current.max(later) < min {
            if !self.collecting.get() {
                return None;
            }
            assert_eq!(self.request.get(), Some((min, desired)), "a collection for a refill");
            self.collect();
            if self.region < min {
                return None;
            }
        } else if current < min && current > 0 {
            let end = self.take(current);
            self.own(end);
        }
        let (current, later) = self.free();
        let extent = self.take(if current > 0 { current } else { later }.min(desired));
        let (handed_out, retired) = self.totals.get();
        self.totals.set((handed_out + extent.bytes, retired));
        Some(extent)
    }

    fn available(&self, _cpu: CpuIndex) -> usize {
        let (current, later) = self.free();
        current.max(later)
    }

    fn retire(&self, tail: Extent) {
        assert!(tail.bytes >= self.shape.min_remainder, "{tail:?} takes no filler");
        self.own(tail);
        let (handed_out, retired) = self.totals.get();
        self.totals.set((handed_out, retired + tail.bytes));
    }
}
