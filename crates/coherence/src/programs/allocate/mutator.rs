//! One allocating thread: objects, the work between them, and its buffer.

use super::buffers::Buffers;
use super::stop::Stop;
use super::{Counts, add};
use crate::constants;
use crate::machine::{Machine, Picoseconds};
use crate::simulation::{cpu, lock_step, produce, random, store_object, work};
use hab::Extent;
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

/// Sizes drawn by chance in constant time, by Walker's and Vose's method: each place of a table is one of two sizes.
#[derive(Debug)]
struct Sizes(Vec<Place>);

#[derive(Clone, Copy, Debug)]
struct Place {
    own: u32,
    other: u32,
    /// Below this part of 2^32 it is its own size.
    own_part: u64,
}

impl Sizes {
    fn of(sizes: &[(u32, f64)]) -> Sizes {
        let total: f64 = sizes.iter().map(|(_, share)| share).sum();
        let grains = |bytes: u32| bytes.next_multiple_of(8).max(8);
        let mut places: Vec<Place> = (sizes.iter())
            .map(|(bytes, _)| Place { own: grains(*bytes), other: grains(*bytes), own_part: 1 << 32 })
            .collect();
        let mut parts: Vec<f64> = sizes.iter().map(|(_, share)| share / total * sizes.len() as f64).collect();
        let (mut less, mut more): (Vec<usize>, Vec<usize>) =
            (0..parts.len()).partition(|place| parts[*place] < 1.0);
        while let (Some(small), Some(large)) = (less.pop(), more.last().copied()) {
            places[small].other = places[large].own;
            places[small].own_part = (parts[small] * (1_u64 << 32) as f64) as u64;
            parts[large] -= 1.0 - parts[small];
            if parts[large] < 1.0 {
                more.pop();
                less.push(large);
            }
        }
        Sizes(places)
    }

    #[inline]
    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> usize {
        let chance = random.next_u64();
        // The upper half chooses the place, the lower one which of its sizes.
        let place = &self.0[(((chance >> 32) * self.0.len() as u64) >> 32) as usize];
        let own = chance & u64::from(u32::MAX) < place.own_part;
        (if own { place.own } else { place.other }) as usize
    }
}

/// A request that leaves more than this part of a buffer does not give the buffer up but is served elsewhere.
const WASTE_FRACTION: usize = constants::WASTE_FRACTION.value as usize;
/// Each object that is served elsewhere raises that limit by so many bytes, until the next refill (`TLABWasteIncrement`, 4 words).
const WASTE_INCREMENT: usize = 32;
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
    /// What may be left of a buffer that is given up, in bytes.
    waste_limit: usize,
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
        let random = Xoshiro256PlusPlus::seed_from_u64(random());
        let scale = machine.costs.work_scale * 1000.0 / machine.clock_ghz;
        Thread {
            sizes: Sizes::of(&mutator.sizes),
            random,
            object: mutator.object_cycles * scale,
            byte: mutator.byte_cycles * scale,
            writes: mutator.writes,
            buffers,
            tlab,
            refill,
            counts,
            free: Extent { start: 0, bytes: 0 },
            waste_limit: tlab / WASTE_FRACTION,
        }
    }

    /// Allocates until `over` says so; `collect` is what the last one to stop does when the heap is used up.
    pub(super) fn run(mut self, stop: &Stop, collect: impl Fn(), over: impl Fn() -> bool) {
        let mut pending = 0.0;
        let (mut objects, mut bytes) = (0, 0);
        // Bytes of objects that are still to go to memory.
        let mut written = 0;
        loop {
            let size = self.sizes.draw(&mut self.random);
            pending += self.object + self.byte * size as f64;
            if size <= self.free.bytes {
                (_, self.free) = self.free.split(size);
                objects += 1;
                bytes += size as u64;
                written += size;
                if pending < LONGEST as f64 {
                    continue;
                }
                produce(std::mem::take(&mut pending) as Picoseconds, std::mem::take(&mut written));
            } else {
                produce(std::mem::take(&mut pending) as Picoseconds, std::mem::take(&mut written));
                if !self.served(size, stop, &collect, &over) {
                    break;
                }
                objects += 1;
                bytes += size as u64;
                written += size;
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
        // The last ones, so that what was counted has gone all its ways.
        produce(pending as Picoseconds, written);
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
        if self.free.bytes <= self.waste_limit && size < self.tlab {
            add(&self.counts.wasted, self.free.bytes as u64);
            self.free = Extent { start: 0, bytes: 0 };
            let Some(extent) = self.buffers.refill(here, size, self.tlab) else { return false };
            add(&self.counts.refills, 1);
            self.waste_limit = self.tlab / WASTE_FRACTION;
            (_, self.free) = extent.split(size);
            return true;
        }
        let Some(extent) = self.buffers.object(here, size) else { return false };
        add(&self.counts.singles, 1);
        self.waste_limit += WASTE_INCREMENT;
        if self.writes && self.tlab == 0 {
            store_object(extent.start);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_come_in_their_shares() {
        let sizes = Sizes::of(&[(16, 0.5), (24, 0.3), (1000, 0.19), (70_001, 0.01)]);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..1_000_000 {
            *seen.entry(sizes.draw(&mut random)).or_insert(0_u32) += 1;
        }
        let expected = [(16, 500_000_u32), (24, 300_000), (1000, 190_000), (70_008, 10_000)];
        assert_eq!(seen.len(), expected.len());
        for (bytes, count) in expected {
            assert!(seen[&bytes].abs_diff(count) < count / 20, "{bytes}: {}", seen[&bytes]);
        }
    }
}
