//! What each thread leaves unused of its TLABs: when a collection comes, and when it gives one up for a new one.
//!
//! One thread writes, at safepoints. A pause may leave TLABs as they are; so what was found counts with the next look, which shows whether the TLAB was retired: either the thread
//! has another one then, or it has allocated.
#![allow(clippy::disallowed_types, reason = "the words are shared with another process")]

use std::sync::atomic::{AtomicU64, Ordering};

/// Threads are found in one of so many sets, by their addresses, at one of so many places.
const SETS: usize = 128;
const PLACES: usize = 16;
/// More threads than these at a time have no room.
pub const MOST_THREADS: usize = SETS * PLACES / 2;

/// A thread's TLAB at a safepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tlab {
    /// Bytes that the thread had allocated when it got it.
    pub allocated: u64,
    /// Where it begins; 0 where the thread has none.
    pub start: u64,
    /// Of it, and of those before.
    pub left: Left,
}

/// Bytes that were left unused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// In the TLAB that a collection retires.
    pub at_collection: u64,
    /// In those that were given up for a new one, since the collection before.
    pub at_refills: u64,
}

#[derive(Debug, Default)]
#[repr(C)]
struct Words {
    at_collection: AtomicU64,
    at_refills: AtomicU64,
}

impl Words {
    // Relaxed, all of it: one thread writes, and readers take sums as they are.
    fn get(&self) -> Left {
        Left {
            at_collection: self.at_collection.load(Ordering::Relaxed),
            at_refills: self.at_refills.load(Ordering::Relaxed),
        }
    }

    fn set(&self, left: Left) {
        self.at_collection.store(left.at_collection, Ordering::Relaxed);
        self.at_refills.store(left.at_refills, Ordering::Relaxed);
    }

    fn add(&self, more: Left) {
        let Left { at_collection, at_refills } = self.get();
        self.set(Left {
            at_collection: at_collection.wrapping_add(more.at_collection),
            at_refills: at_refills.wrapping_add(more.at_refills),
        });
    }
}

#[derive(Debug, Default)]
#[repr(C)]
struct Thread {
    /// The look at which it was seen last.
    look: AtomicU64,
    start: AtomicU64,
    allocated: AtomicU64,
    /// What was found then.
    found: Words,
    sum: Words,
}

/// The sums. All zero is none.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct ThreadWaste {
    /// The threads' addresses; 0 is free.
    addresses: [[AtomicU64; PLACES]; SETS],
    threads: [[Thread; PLACES]; SETS],
    looks: AtomicU64,
    all: Words,
}

impl ThreadWaste {
    /// Begins a look at all threads. One thread at a time.
    pub fn begin(&self) {
        self.looks.store(self.looks().wrapping_add(1), Ordering::Relaxed);
    }

    /// How often all threads were looked at.
    pub fn looks(&self) -> u64 {
        self.looks.load(Ordering::Relaxed)
    }

    /// One of the threads, by the address of HotSpot's structure of it. The same thread as in [`ThreadWaste::begin`].
    pub fn see(&self, address: u64, tlab: Tlab) {
        let look = self.looks();
        let Some((place, thread)) = self.place_for(address, look) else { return };
        let same = place.load(Ordering::Relaxed) == address;
        let stays = thread.start.load(Ordering::Relaxed) == tlab.start
            && thread.allocated.load(Ordering::Relaxed) == tlab.allocated;
        if !same {
            // Who was here has ended, and his TLAB was retired.
            self.all.add(thread.found.get());
            thread.sum.set(Left::default());
        } else if !stays {
            let found = thread.found.get();
            self.all.add(found);
            thread.sum.add(found);
        }
        thread.found.set(tlab.left);
        thread.start.store(tlab.start, Ordering::Relaxed);
        thread.allocated.store(tlab.allocated, Ordering::Relaxed);
        thread.look.store(look, Ordering::Relaxed);
        // Last: who finds the address finds a sum of its own.
        place.store(address, Ordering::Release);
    }

    /// Where it is, or where there is room: nobody, or one that was not seen at the last look either.
    fn place_for(&self, address: u64, look: u64) -> Option<(&AtomicU64, &Thread)> {
        // HotSpot's structures begin at multiples of 64 bytes, at least.
        let set = (address >> 6) as usize % SETS;
        let (addresses, threads) = (&self.addresses[set], &self.threads[set]);
        let is_gone = |place: usize| threads[place].look.load(Ordering::Relaxed).wrapping_add(1) < look;
        let of = |wanted: u64| addresses.iter().position(|place| place.load(Ordering::Relaxed) == wanted);
        let found = of(address).or_else(|| of(0)).or_else(|| (0..PLACES).find(|place| is_gone(*place)))?;
        Some((&addresses[found], &threads[found]))
    }

    /// The sum of each thread, by its address.
    pub fn threads(&self) -> impl Iterator<Item = (u64, Left)> {
        let each = self.addresses.as_flattened().iter().zip(self.threads.as_flattened());
        // Acquire: pairs with the release in `see`.
        let known = each.map(|(address, thread)| (address.load(Ordering::Acquire), thread));
        known.filter(|(address, _)| *address != 0).map(|(address, thread)| (address, thread.sum.get()))
    }

    /// The sum of all threads, those with them that have ended.
    pub fn all(&self) -> Left {
        self.all.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn none() -> Box<ThreadWaste> {
        // SAFETY: atomics, for which zero is valid.
        unsafe { Box::new_zeroed().assume_init() }
    }

    fn left(at_collection: u64, at_refills: u64) -> Left {
        Left { at_collection, at_refills }
    }

    fn tlab(allocated: u64, start: u64, left: Left) -> Tlab {
        Tlab { allocated, start, left }
    }

    fn look(waste: &ThreadWaste, threads: &[(u64, Tlab)]) {
        waste.begin();
        threads.iter().for_each(|(address, tlab)| waste.see(*address, *tlab));
    }

    fn found(waste: &ThreadWaste) -> BTreeMap<u64, Left> {
        waste.threads().collect()
    }

    #[test]
    fn what_was_left_counts_when_the_tlab_was_retired() {
        let waste = none();
        look(&waste, &[(64, tlab(0, 1000, left(900, 8))), (128, tlab(50, 2000, left(100, 0)))]);
        assert_eq!(waste.all(), Left::default(), "nobody knows yet");
        // A pause that has retired none: the first thread has the same one, of which less is left.
        look(&waste, &[(64, tlab(0, 1000, left(700, 8))), (128, tlab(80, 3000, left(30, 0)))]);
        assert_eq!(found(&waste), [(64, left(0, 0)), (128, left(100, 0))].into());
        // At the same place again, but something has been allocated.
        look(&waste, &[(64, tlab(10, 1000, left(5, 0))), (128, tlab(80, 0, left(0, 0)))]);
        assert_eq!(found(&waste), [(64, left(700, 8)), (128, left(130, 0))].into());
        assert_eq!((waste.all(), waste.looks()), (left(830, 8), 3));
    }

    #[test]
    fn who_has_ended_makes_room_and_stays_in_the_sum() {
        let waste = none();
        // All in one set.
        let address = |number: u64| (number + 1) * 64 * SETS as u64;
        let threads = |numbers: std::ops::Range<u64>, allocated| -> Vec<(u64, Tlab)> {
            numbers.map(|number| (address(number), tlab(allocated, 7, left(10, 1)))).collect()
        };
        look(&waste, &threads(0..16, 1));
        look(&waste, &threads(0..20, 2));
        assert_eq!((found(&waste).len(), waste.all()), (16, left(160, 16)), "no room for four");
        look(&waste, &threads(0..10, 3));
        look(&waste, &threads(0..10, 4));
        // Six were not there twice: four of them make room.
        look(&waste, &[threads(0..10, 5), threads(16..20, 5)].concat());
        assert_eq!(found(&waste).get(&address(17)), Some(&left(0, 0)));
        assert_eq!(found(&waste)[&address(3)], left(40, 4));
        assert_eq!(waste.all(), left(160 + 3 * 100 + 40, 16 + 3 * 10 + 4));
    }
}
