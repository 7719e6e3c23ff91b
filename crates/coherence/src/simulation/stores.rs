//! A thread's store buffer: plain stores on their way to the cache, in their order.

use crate::machine::Picoseconds;
use std::collections::VecDeque;

/// When each store that has not reached the cache will have.
#[derive(Debug, Default)]
pub(super) struct Stores(VecDeque<Picoseconds>);

impl Stores {
    /// When a buffer of so many places has room for one more store.
    #[inline]
    pub(super) fn room(&mut self, now: Picoseconds, places: u32) -> Picoseconds {
        while self.0.front().is_some_and(|end| *end <= now) {
            self.0.pop_front();
        }
        match self.0.front() {
            Some(oldest) if self.0.len() >= places as usize => *oldest,
            _ => now,
        }
    }

    /// A store that its line is there for at a moment; no store overtakes another.
    #[inline]
    pub(super) fn add(&mut self, now: Picoseconds, line: Picoseconds) {
        let end = self.0.back().copied().unwrap_or(0).max(line);
        if end > now {
            self.0.push_back(end);
        }
    }

    /// When all of them have reached the cache.
    #[inline]
    pub(super) fn drained(&self, now: Picoseconds) -> Picoseconds {
        self.0.back().copied().unwrap_or(0).max(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_of_two_places_waits_for_the_first() {
        let mut stores = Stores::default();
        stores.add(0, 100);
        // The second one's line is there at once, and it waits for the first all the same.
        stores.add(1, 1);
        assert_eq!((stores.room(2, 2), stores.room(2, 3), stores.drained(2)), (100, 2, 100));
        assert_eq!((stores.room(100, 2), stores.drained(100)), (100, 100));
        stores.add(101, 101);
        assert_eq!(stores.room(101, 1), 101, "what is in the cache at once takes no place");
    }
}
