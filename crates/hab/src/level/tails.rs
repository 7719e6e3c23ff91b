//! Single buffers' tails, taken out and put in again: for a source that takes its last bytes back.

use super::{BUFFERS_PER_DOMAIN, Level};
use crate::atomics::Atomics;
use crate::{Access, Buffer, Counter, Extent, Source};

impl<A: Access, S: Source, M: Atomics> Level<'_, A, S, M> {
    /// Empties one buffer, by its place among [`Level::states`]: its tail is the caller's, and counts as given up. [`Level::give_tail`]
    /// puts it in again. A refill under way is left to its owner.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn take_tail(&self, place: usize) -> Extent {
        let (domain, buffer) = self.buffer(place);
        let tail = buffer.take(self.frame);
        self.counters[domain].add(Counter::WasteCollection, tail.bytes as u64);
        tail
    }

    /// Makes one buffer, by its place among [`Level::states`], hold an extent of the caller's, which counts as reserved again; whether it was
    /// empty, so that it does.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn give_tail(&self, place: usize, tail: Extent) -> bool {
        let (domain, buffer) = self.buffer(place);
        if buffer.claim(self.frame, 0).is_none() {
            return false;
        }
        self.counters[domain].add(Counter::RefillBytes, tail.bytes as u64);
        buffer.publish(self.frame, tail);
        true
    }

    fn buffer(&self, place: usize) -> (usize, &Buffer<A, M>) {
        let domain = place / BUFFERS_PER_DOMAIN;
        (domain, &self.domains[domain].buffers[place % BUFFERS_PER_DOMAIN])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counters, CpuIndex, DomainIndex, Layout, Request, Shape, Shared, State};
    use core::cell::Cell;

    /// Hands out whole extents of 4 KB, one after the other.
    struct Heap(Cell<usize>);

    impl Source for Heap {
        fn acquire(&self, _: CpuIndex, _: usize, _: usize) -> Option<Extent> {
            Some(Extent { start: self.0.replace(self.0.get() + 4096), bytes: 4096 })
        }

        fn available(&self, _: CpuIndex) -> usize {
            usize::MAX
        }

        fn retire(&self, _: Extent) {}
    }

    #[test]
    fn a_tail_is_the_takers_until_it_is_put_in_again() {
        let counters = [Counters::default(), Counters::default()];
        let layout = Layout {
            domain_of_cpu: [DomainIndex(0), DomainIndex(1)].into(),
            group_of_domain: [0, 0].into(),
            exclusive: 0,
        };
        let shape = Shape { grain_shift: 3, min_remainder: 0 };
        let level: Level<Shared, _> = Level::new(4096, shape, 4096, layout, &counters, Heap(Cell::new(4096)));
        let take = || level.allocate(CpuIndex(1), Request::buffer(1024, 1024)).unwrap().start;
        assert_eq!((take(), take()), (4096, 5120));
        let held = |(place, state)| if let State::Free(tail) = state { Some((place, tail)) } else { None };
        let (place, tail) = level.states().enumerate().find_map(held).unwrap();
        assert_eq!((place, tail), (BUFFERS_PER_DOMAIN, Extent { start: 6144, bytes: 2048 }));
        assert_eq!((level.take_tail(place), level.take_tail(place).bytes, level.remaining()), (tail, 0, 0));
        assert!(level.give_tail(place, tail) && !level.give_tail(place, tail));
        assert_eq!((take(), take(), take()), (6144, 7168, 8192));
        let sum = |counter| counters.iter().map(|domain: &Counters| domain.get(counter)).sum::<u64>();
        assert_eq!(
            sum(Counter::RefillBytes),
            sum(Counter::BufferBytes) + sum(Counter::WasteCollection) + level.remaining() as u64
        );
    }
}
