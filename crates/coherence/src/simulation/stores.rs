//! A thread's store buffer: plain stores on their way to the cache, in their order.

use crate::machine::Picoseconds;
use crate::memory::Memory;
use std::collections::VecDeque;

/// A store whose line has not set out yet arrives at no known moment.
const UNKNOWN: Picoseconds = Picoseconds::MAX;

/// One store.
#[derive(Clone, Copy, Debug)]
struct Store {
    /// Of the word.
    address: usize,
    /// The core on which it was executed, which writes it.
    core: u32,
    /// When its line is there for it.
    arrived: Picoseconds,
    /// When it may be written at the earliest: it has its place until then, even where the line is there at once.
    retired: Picoseconds,
}

impl Store {
    fn left(&self) -> Picoseconds {
        self.arrived.max(self.retired)
    }

    fn waits(&self, address: usize, core: u32) -> bool {
        self.arrived == UNKNOWN && self.core == core && Memory::same_line(self.address, address)
    }
}

/// The stores that have not reached the cache.
///
/// A line that arrives is there for all stores that wait for it, also for those behind stores to other lines, as if it stayed until they
/// are written. Places are given up in their order: a store whose line is there keeps its place until those before it have left.
#[derive(Debug, Default)]
pub(super) struct Stores(VecDeque<Store>);

impl Stores {
    /// When a buffer of so many places has room for one more store; `None` where nobody knows yet.
    #[inline]
    pub(super) fn room(&mut self, now: Picoseconds, places: u32) -> Option<Picoseconds> {
        self.leave(now);
        match self.0.front() {
            Some(oldest) if self.0.len() >= places as usize => {
                (oldest.arrived != UNKNOWN).then(|| oldest.left())
            }
            _ => Some(now),
        }
    }

    /// A store into a word, whose line is there for it at a moment (`None`: it has to wait for its turn), and which retires at
    /// another.
    #[inline]
    pub(super) fn add(
        &mut self,
        address: usize,
        core: u32,
        arrived: Option<Picoseconds>,
        retired: Picoseconds,
    ) {
        self.0.push_back(Store { address, core, arrived: arrived.unwrap_or(UNKNOWN), retired });
    }

    /// The line of a word is there for a core at a moment: for all stores that wait for it.
    pub(super) fn arrive(&mut self, address: usize, core: u32, moment: Picoseconds) {
        for store in &mut self.0 {
            if store.waits(address, core) {
                store.arrived = moment;
            }
        }
    }

    /// Whether a store of a core waits for the line of a word, and nobody knows when it comes.
    #[inline]
    pub(super) fn waits(&self, address: usize, core: u32) -> bool {
        self.0.iter().any(|store| store.waits(address, core))
    }

    /// When the lines of all of them are there; `None` where nobody knows yet. How long the last ones take to retire is part of the
    /// instruction that waits for this.
    #[inline]
    pub(super) fn drained(&self, now: Picoseconds) -> Option<Picoseconds> {
        let last = self.0.iter().map(|store| store.arrived).fold(now, Picoseconds::max);
        (last != UNKNOWN).then_some(last)
    }

    /// Whether a load of a word has its value from here, and not from the cache.
    #[inline]
    pub(super) fn forwards(&mut self, address: usize, core: u32, now: Picoseconds) -> bool {
        self.leave(now);
        self.0.iter().any(|store| store.address == address && store.core == core)
    }

    /// Those that are in the cache give up their places, in their order.
    #[inline]
    fn leave(&mut self, now: Picoseconds) {
        while self.0.front().is_some_and(|store| store.left() <= now) {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_of_two_places_waits_for_the_first() {
        let mut stores = Stores::default();
        stores.add(8, 0, Some(100), 0);
        // The second one's line is there at once, and it waits for the first all the same.
        stores.add(72, 0, Some(1), 1);
        assert_eq!(
            (stores.room(2, 2), stores.room(2, 3), stores.drained(2)),
            (Some(100), Some(2), Some(100))
        );
        assert_eq!((stores.room(100, 2), stores.drained(100)), (Some(100), Some(100)));
        stores.add(8, 0, Some(101), 101);
        assert_eq!(stores.room(101, 1), Some(101), "what is in the cache takes no place");
    }

    #[test]
    fn a_store_that_has_not_retired_has_its_place_and_nobody_waits_for_it_twice() {
        let mut stores = Stores::default();
        stores.add(8, 0, Some(0), 50);
        assert_eq!((stores.room(10, 1), stores.drained(10)), (Some(50), Some(10)));
    }

    #[test]
    fn the_line_is_there_for_all_stores_that_wait_for_it() {
        let mut stores = Stores::default();
        for address in [64, 72, 8] {
            stores.add(address, 0, None, 0);
        }
        // Executed on another core, which asks for the line itself.
        stores.add(64, 1, None, 0);
        assert!(stores.waits(100, 0) && stores.waits(100, 1) && !stores.waits(200, 0));
        assert_eq!((stores.room(9, 4), stores.room(9, 5), stores.drained(9)), (None, Some(9), None));
        stores.arrive(64, 0, 20);
        assert!(!stores.waits(100, 0) && stores.waits(100, 1) && stores.waits(0, 0));
        assert_eq!(
            (stores.room(9, 4), stores.drained(9)),
            (Some(20), None),
            "the third one's line is another"
        );
        stores.arrive(0, 0, 30);
        stores.arrive(64, 1, 40);
        assert_eq!(stores.drained(9), Some(40));
    }

    #[test]
    fn a_load_has_the_value_of_the_threads_own_store_until_that_is_in_the_cache() {
        let mut stores = Stores::default();
        stores.add(8, 0, None, 0);
        stores.add(72, 0, Some(0), 14);
        assert!(stores.forwards(8, 0, 1000) && stores.forwards(72, 0, 1000));
        assert!(
            !stores.forwards(16, 0, 1000) && !stores.forwards(8, 1, 1000),
            "another word, or another core"
        );
        stores.arrive(8, 0, 1000);
        assert!(!stores.forwards(8, 0, 1000) && !stores.forwards(72, 0, 1000), "both have left");
    }
}
