//! What each thread leaves unused of its TLABs: when a collection comes, and when it gives one up for a new one.
//!
//! One thread writes, at safepoints.
#![allow(clippy::disallowed_types, reason = "the words are shared with another process")]

use std::sync::atomic::{AtomicU64, Ordering};

/// Threads are found in one of so many sets, by their addresses, at one of so many places.
const SETS: usize = 128;
const PLACES: usize = 16;
/// More threads than these at a time have no room: a set has four of as many on average. Those of the collection before keep their places, so that where threads come and go one of
/// hundreds may be left out.
pub const MOST_THREADS: usize = SETS * PLACES / 4;

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
    /// The collection at which it was seen last.
    seen: AtomicU64,
    /// Bytes that it had allocated by then.
    allocated: AtomicU64,
    sum: Words,
}

/// The sums. All zero is none.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct ThreadWaste {
    /// The threads' addresses; 0 is free.
    addresses: [[AtomicU64; PLACES]; SETS],
    threads: [[Thread; PLACES]; SETS],
    collections: AtomicU64,
    all: Words,
}

impl ThreadWaste {
    /// A collection has retired all TLABs; what was left in each follows by [`ThreadWaste::add`]. One thread at a time.
    pub fn begin(&self) {
        self.collections.store(self.collections().wrapping_add(1), Ordering::Relaxed);
    }

    /// How many collections were looked at.
    fn collections(&self) -> u64 {
        self.collections.load(Ordering::Relaxed)
    }

    /// What one thread has left, which had allocated so many bytes by then: by the address of HotSpot's structure of it. On the same thread as [`ThreadWaste::begin`].
    pub fn add(&self, address: u64, allocated: u64, left: Left) {
        let now = self.collections();
        self.all.add(left);
        let Some((place, thread)) = self.place_for(address, now) else { return };
        // Less than before is what another thread has allocated, which has got the address since.
        let is_same =
            place.load(Ordering::Relaxed) == address && allocated >= thread.allocated.load(Ordering::Relaxed);
        if !is_same {
            thread.sum.set(Left::default());
        }
        thread.sum.add(left);
        thread.allocated.store(allocated, Ordering::Relaxed);
        thread.seen.store(now, Ordering::Relaxed);
        // Last: who finds a new address finds a sum of its own. Where it takes the place of another's, the sum is known a moment earlier.
        place.store(address, Ordering::Release);
    }

    /// Where it is, or where there is room: nobody, or one that was not seen at the last collection either.
    fn place_for(&self, address: u64, now: u64) -> Option<(&AtomicU64, &Thread)> {
        // All bits of an address count, whatever the distances of these structures are multiples of.
        let set = (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - SETS.ilog2())) as usize;
        let (addresses, threads) = (&self.addresses[set], &self.threads[set]);
        let is_gone = |place: usize| threads[place].seen.load(Ordering::Relaxed).wrapping_add(1) < now;
        let of = |wanted: u64| addresses.iter().position(|place| place.load(Ordering::Relaxed) == wanted);
        let found = of(address).or_else(|| of(0)).or_else(|| (0..PLACES).find(|place| is_gone(*place)))?;
        Some((&addresses[found], &threads[found]))
    }

    /// The sum of each thread, by its address.
    pub fn threads(&self) -> impl Iterator<Item = (u64, Left)> {
        let each = self.addresses.as_flattened().iter().zip(self.threads.as_flattened());
        // Acquire: pairs with the release in `add`.
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

    fn collect(waste: &ThreadWaste, threads: &[(u64, u64, Left)]) {
        waste.begin();
        threads.iter().for_each(|(address, allocated, left)| waste.add(*address, *allocated, *left));
    }

    fn found(waste: &ThreadWaste) -> BTreeMap<u64, Left> {
        waste.threads().collect()
    }

    #[test]
    fn what_each_thread_leaves_is_added_up() {
        let waste = none();
        collect(&waste, &[(64, 10, left(900, 8)), (128, 50, left(100, 0))]);
        collect(&waste, &[(64, 10, left(0, 0)), (128, 80, left(30, 1))]);
        assert_eq!(found(&waste), [(64, left(900, 8)), (128, left(130, 1))].into());
        // Another one at the address of the second.
        collect(&waste, &[(128, 20, left(5, 0))]);
        assert_eq!(found(&waste), [(64, left(900, 8)), (128, left(5, 0))].into());
        assert_eq!((waste.all(), waste.collections()), (left(1035, 9), 3));
    }

    #[test]
    fn who_has_ended_makes_room_and_stays_in_the_sum() {
        let waste = none();
        let threads = |numbers: std::ops::Range<u64>| -> Vec<(u64, u64, Left)> {
            numbers.map(|number| ((number + 1) << 10, 1, left(1, 0))).collect()
        };
        // Each time others, until there is no free place: none of those of the last two times goes.
        for time in 0..20 {
            collect(&waste, &threads(300 * time..300 * (time + 1)));
            let found = found(&waste);
            let last = 300 * time.saturating_sub(1)..300 * (time + 1);
            assert!(threads(last).iter().all(|(address, ..)| found.contains_key(address)), "{time}");
        }
        assert_eq!(waste.all(), left(20 * 300, 0));
    }

    /// As HotSpot aligns its structures with biased locking, and as an allocator may.
    #[test]
    fn as_many_threads_as_promised_have_room_whatever_their_distance() {
        for distance in [16, 64, 1088, 1 << 11, 1 << 12, 1 << 13, 1 << 16, 1 << 20, 3 << 11] {
            let waste = none();
            let address = |number: u64| 0x7f00_1234_0000 + number * distance;
            collect(
                &waste,
                &(0..MOST_THREADS as u64).map(|number| (address(number), 1, left(1, 0))).collect::<Vec<_>>(),
            );
            assert_eq!(found(&waste).len(), MOST_THREADS, "{distance}");
        }
    }
}
