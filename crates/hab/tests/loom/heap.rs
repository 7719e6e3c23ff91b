//! A heap of a few grains, each with a cell in which loom sees races between owners.

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use terrace_hab::{CpuIndex, Extent, Shape, Source};

pub const BASE: usize = 1 << 20;
pub const GRAIN: usize = 8;
pub const SHAPE: Shape = Shape { grain_shift: 3, min_remainder: GRAIN };

pub struct Heap {
    /// Relaxed, and so no help to a protocol that forgot to synchronise.
    top: AtomicUsize,
    grains: Vec<UnsafeCell<()>>,
    /// Everything that is somebody's for good. Outside the model: synchronises nothing that loom can see.
    owned: Mutex<Vec<Extent>>,
}

impl Heap {
    pub fn new(grains: usize) -> Heap {
        Heap {
            top: AtomicUsize::new(0),
            grains: (0..grains).map(|_| UnsafeCell::new(())).collect(),
            owned: Mutex::default(),
        }
    }

    fn top(&self) -> usize {
        // An addition of nothing, because a plain load would hide interleavings from loom (see `atomics`).
        self.top.fetch_add(0, Ordering::Relaxed)
    }

    /// What an owner does to its bytes: fails if the previous owner's writes are not ordered before.
    fn write(&self, extent: Extent) {
        let first = (extent.start - BASE) / GRAIN;
        for grain in &self.grains[first..first + extent.bytes / GRAIN] {
            grain.with_mut(|_| ());
        }
    }

    /// Makes `extent` the caller's, for good.
    pub fn own(&self, extent: Extent) {
        self.write(extent);
        self.owned.lock().unwrap().push(extent);
    }

    /// Each byte below the top is owned exactly once.
    pub fn check(&self) {
        let mut owned = std::mem::take(&mut *self.owned.lock().unwrap());
        owned.sort_by_key(|extent| extent.start);
        let mut end = BASE;
        for extent in owned {
            assert!(extent.start >= end, "bytes handed out twice: {extent:?}");
            assert!(extent.start <= end, "bytes lost before {extent:?}");
            end = extent.end();
        }
        assert_eq!(end, BASE + self.top.load(Ordering::Relaxed) * GRAIN, "bytes lost at the end");
    }
}

impl Source for Heap {
    fn acquire(&self, _cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        // A collection may come here, and any other thread: each access of an atomic is a place to switch.
        let mut top = self.top();
        loop {
            let taken = (desired / GRAIN).min(self.grains.len() - top);
            if taken < min / GRAIN {
                return None;
            }
            match self.top.compare_exchange(top, top + taken, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    let extent = Extent { start: BASE + top * GRAIN, bytes: taken * GRAIN };
                    self.write(extent);
                    return Some(extent);
                }
                Err(now) => top = now,
            }
        }
    }

    fn available(&self, _cpu: CpuIndex) -> usize {
        (self.grains.len() - self.top()) * GRAIN
    }

    fn retire(&self, tail: Extent) {
        self.own(tail);
    }
}
