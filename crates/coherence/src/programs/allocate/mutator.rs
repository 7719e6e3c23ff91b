//! One allocating thread: objects, the work between them, and its buffer.

use super::buffers::Buffers;
use super::stop::Stop;
use super::{Counts, add};
use crate::machine::{Machine, Picoseconds};
use crate::simulation::{cpu, lock_step, random, store_object, work};
use hab_simulated::Extent;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// What threads allocate, and what they do between two objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutator {
    /// Sizes of objects in bytes with their shares; whole grains of 8 bytes.
    pub sizes: Vec<(u32, f64)>,
    /// Work for each object, in processor cycles.
    pub object_cycles: f64,
    /// Work for each byte of an object, in processor cycles: initialising it.
    pub byte_cycles: f64,
    /// Whether the object's first line is written, which matters where threads share lines: without thread buffers.
    pub writes: bool,
}

impl Mutator {
    /// Objects of one size.
    pub fn constant(bytes: u32, object_cycles: f64, byte_cycles: f64) -> Mutator {
        Mutator { sizes: vec![(bytes, 1.0)], object_cycles, byte_cycles, writes: true }
    }

    /// The mean size in bytes.
    pub fn mean_bytes(&self) -> f64 {
        let shares: f64 = self.sizes.iter().map(|(_, share)| share).sum();
        self.sizes.iter().map(|(bytes, share)| f64::from(*bytes) * share).sum::<f64>() / shares
    }
}

/// Sizes drawn by chance in constant time: 4,096 entries, in which each size has its share.
#[derive(Debug)]
struct Sizes(Vec<u32>);

const ENTRIES: usize = 4096;

impl Sizes {
    /// What is too rare for an entry gets one now and then: entries are set at evenly spaced places of the distribution, shifted by
    /// chance.
    fn of(sizes: &[(u32, f64)], shift: f64) -> Sizes {
        let total: f64 = sizes.iter().map(|(_, share)| share).sum();
        let mut entries = Vec::with_capacity(ENTRIES);
        let (mut sizes, mut sum) = (sizes.iter(), 0.0);
        let mut bytes = 8;
        for entry in 0..ENTRIES {
            let place = (entry as f64 + shift) / ENTRIES as f64 * total;
            while sum <= place
                && let Some((next, share)) = sizes.next()
            {
                bytes = *next;
                sum += share;
            }
            entries.push(bytes.next_multiple_of(8).max(8));
        }
        Sizes(entries)
    }
}

/// A request that leaves more than this part of a buffer does not give the buffer up but is served elsewhere
/// (`TLABRefillWasteFraction`).
const WASTE_FRACTION: usize = 64;
/// Computing is declared after this much of it at the latest, so that the thread sees the end.
const LONGEST: Picoseconds = 2_000_000;

/// An object that was refused after so many collections is larger than eden: its thread ends.
const MOST_REFUSALS: u32 = 1 << 16;

/// A thread.
pub(super) struct Thread<'a> {
    sizes: Sizes,
    random: Xoshiro256PlusPlus,
    object: f64,
    byte: f64,
    writes: bool,
    buffers: &'a dyn Buffers,
    tlab: usize,
    refill: Picoseconds,
    counts: &'a Counts,
    free: Extent,
}

impl<'a> Thread<'a> {
    pub(super) fn new(
        machine: &Machine,
        mutator: &Mutator,
        buffers: &'a dyn Buffers,
        tlab: usize,
        refill: Picoseconds,
        counts: &'a Counts,
    ) -> Thread<'a> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(random());
        let shift = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let scale = machine.costs.work_scale * 1000.0 / machine.clock_ghz;
        Thread {
            sizes: Sizes::of(&mutator.sizes, shift),
            random,
            object: mutator.object_cycles * scale,
            byte: mutator.byte_cycles * scale,
            writes: mutator.writes,
            buffers,
            tlab,
            refill,
            counts,
            free: Extent { start: 0, bytes: 0 },
        }
    }

    /// Allocates until `over` says so; `collect` is what the last one to stop does when the heap is used up.
    pub(super) fn run(mut self, stop: &Stop, collect: impl Fn(), over: impl Fn() -> bool) {
        let mut pending = 0.0;
        let (mut objects, mut bytes) = (0, 0);
        loop {
            let size = self.sizes.0[self.random.next_u64() as usize % ENTRIES] as usize;
            pending += self.object + self.byte * size as f64;
            if size <= self.free.bytes {
                (_, self.free) = self.free.split(size);
                objects += 1;
                bytes += size as u64;
                if pending < LONGEST as f64 {
                    continue;
                }
                work(std::mem::take(&mut pending) as Picoseconds);
            } else {
                work(std::mem::take(&mut pending) as Picoseconds);
                if !self.served(size, stop, &collect, &over) {
                    break;
                }
                objects += 1;
                bytes += size as u64;
            }
            if stop.asked() {
                lock_step();
                if stop.asked() {
                    self.free = Extent { start: 0, bytes: 0 };
                    stop.wait(&collect);
                }
            }
            if over() {
                break;
            }
        }
        add(&self.counts.objects, objects);
        add(&self.counts.bytes, bytes);
    }

    /// Has an object served, after as many collections as it takes; says whether it was before the end.
    fn served(&mut self, size: usize, stop: &Stop, collect: impl Fn(), over: impl Fn() -> bool) -> bool {
        for _ in 0..MOST_REFUSALS {
            if self.slowly(size) {
                return true;
            }
            self.free = Extent { start: 0, bytes: 0 };
            stop.wait(&collect);
            if over() {
                break;
            }
        }
        false
    }

    /// Serves an object that does not fit into the rest of the buffer; says whether it could.
    fn slowly(&mut self, size: usize) -> bool {
        if self.tlab > 0 {
            work(self.refill);
        }
        let here = cpu();
        if self.free.bytes * WASTE_FRACTION <= self.tlab && size < self.tlab {
            add(&self.counts.wasted, self.free.bytes as u64);
            self.free = Extent { start: 0, bytes: 0 };
            let Some(extent) = self.buffers.refill(here, size, self.tlab) else { return false };
            add(&self.counts.refills, 1);
            (_, self.free) = extent.split(size);
            return true;
        }
        let Some(extent) = self.buffers.object(here, size) else { return false };
        add(&self.counts.singles, 1);
        if self.writes && self.tlab == 0 {
            store_object(extent.start);
        }
        true
    }
}
