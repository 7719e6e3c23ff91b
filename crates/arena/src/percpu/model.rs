//! The protocol of core buffers and of the reserve under loom, which runs the interleavings of a few threads with up to so many
//! preemptions, and the values that a load may return under the memory orders given.
//!
//! What is real here: this module's parent and the reserve, line for line. What is not: a sequence is one step on a word of the CPU
//! that the thread is on (`sequence_model`), a CPU has two words instead of four, and a request may be as large as a buffer. What a
//! pass does not show: that the instructions of a sequence do what the step does (`tests/threads.rs` disturbs the real ones), nor
//! anything that needs more threads, CPUs, preemptions or migrations than a scenario has.
//!
//! Each grain has a cell that loom watches: whoever gets a grain without having synchronised with the thread that made it ready (as
//! zeroing does) fails the test, even if the addresses are right. `controls` are broken protocols, in which loom has to find the
//! error.

mod controls;
mod resized;
mod scenarios;

use super::{PerCpu, Sizes};
use crate::grain::GRAIN;
use crate::reserve::Reserve;
use crate::segments::Segments;
use crate::sequence::Area;
use crate::slot::{REFILLING, REST_MASK};
use hab::Extent;
use loom::cell::UnsafeCell;
use loom::thread::{self, JoinHandle};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use topology::CpuSource;

const BASE: usize = 1 << 20;

/// A machine with an arena, of which a thread is one of the kernel's by number.
struct Scene {
    area: Area,
    buffers: PerCpu,
    reserve: Reserve,
    grains: Vec<UnsafeCell<()>>,
    /// What was handed out. Outside the model: synchronises nothing that loom can see.
    owned: Mutex<Vec<Extent>>,
}

/// Runs `scenario` with all interleavings of up to `preemptions` preemptions.
fn model(preemptions: usize, scenario: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(scenario);
}

impl Scene {
    /// Buffers of `size` grains over a reserve of `limit` grains; two CPUs; threads begin on these. Loom's threads need `'static`,
    /// and an execution is short: its memory is given up.
    fn new(size: usize, limit: usize, places: &[usize]) -> &'static Scene {
        Scene::on(Area::new(2, places, true), size, limit)
    }

    fn on(area: Area, size: usize, limit: usize) -> &'static Scene {
        Box::leak(Box::new(Scene {
            area,
            buffers: PerCpu::new(area, CpuSource::detect(), BASE, Sizes::equal(size * GRAIN, 2)),
            reserve: Reserve::new(Segments::foreign(BASE, limit * GRAIN), limit * GRAIN),
            grains: (0..limit).map(|_| UnsafeCell::new(())).collect(),
            owned: Mutex::default(),
        }))
    }

    /// What zeroing does, and what an owner does.
    fn write(&self, extent: Extent) {
        let first = (extent.start - BASE) / GRAIN;
        for grain in &self.grains[first..first + extent.bytes / GRAIN] {
            grain.with_mut(|_| ());
        }
    }

    fn own(&self, start: usize, grains: usize) {
        let extent = Extent { start, bytes: grains * GRAIN };
        self.write(extent);
        self.owned.lock().unwrap().push(extent);
    }

    /// Whether the request was served; what was handed out is the caller's.
    fn take(&self, grains: usize) -> bool {
        let start = self.buffers.allocate(grains * GRAIN, GRAIN, &self.reserve, |extent| self.write(extent));
        start.inspect(|&start| self.own(start, grains)).is_some()
    }

    /// The same at a multiple of so many grains.
    fn take_aligned(&self, grains: usize, align: usize) -> bool {
        let align = align * GRAIN;
        let start = self.buffers.allocate(grains * GRAIN, align, &self.reserve, |extent| self.write(extent));
        let Some(start) = start else { return false };
        assert!(start.is_multiple_of(align));
        self.own(start, grains);
        true
    }

    /// The kernel's thread `number` runs.
    fn spawn(&'static self, number: usize, work: impl FnOnce(&Scene) + 'static) -> JoinHandle<()> {
        thread::spawn(move || {
            self.area.run_as(number);
            work(self);
        })
    }

    /// When all threads are done: no byte is handed out twice, nor also in a buffer, and none is lost.
    fn check(&self) {
        let handed_out = self.no_byte_twice();
        let happened = self.buffers.happened();
        let accounted = handed_out as u64 + happened.wasted + happened.remaining;
        assert_eq!(self.reserve.used() as u64, accounted, "bytes lost");
    }

    /// The first of that; how many bytes were handed out.
    fn no_byte_twice(&self) -> usize {
        let mut taken = self.owned.lock().unwrap().clone();
        let handed_out = taken.iter().map(|extent| extent.bytes).sum();
        for word in self.buffers.slots().iter().flat_map(|slot| &slot.words) {
            let word = word.load(Ordering::Relaxed);
            assert_ne!(word, REFILLING, "a refill was never ended");
            if word & REST_MASK != 0 {
                let bytes = (word & REST_MASK) as usize * GRAIN;
                taken.push(Extent { start: self.buffers.start(word), bytes });
            }
        }
        taken.sort_by_key(|extent| extent.start);
        for pair in taken.windows(2) {
            assert!(pair[0].end() <= pair[1].start, "bytes handed out twice: {pair:?}");
        }
        assert!(self.reserve.used() <= self.reserve.limit());
        handed_out
    }
}

/// Runs the threads to their end, and checks.
fn finish(scene: &Scene, threads: impl IntoIterator<Item = JoinHandle<()>>) {
    join(threads);
    scene.check();
}

fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
