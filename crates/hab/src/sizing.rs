//! How large a buffer should be.
//!
//! What the buffers hold when a collection comes is lost to eden, so all of them together are held to a part of it: on every level,
//! in every domain, and with each of a domain's [`BUFFERS_PER_DOMAIN`] buffers full, which takes as many threads that refill at the
//! same time. What buffers hold as a rule is far less: one of each domain's, and half of that.

use crate::Shape;
use crate::level::BUFFERS_PER_DOMAIN;

/// The buffers of a level that serve (one of each domain) get this fraction of eden together.
pub const EDEN_FRACTION: usize = 32;
/// All buffers that there can be get at most this fraction of eden where the size is ours to choose.
pub const AUTOMATIC_LIMIT: usize = 8;
/// All buffers that there can be get at most this fraction of eden, whatever was asked for.
pub const ASKED_LIMIT: usize = 4;
/// The formula's largest, which suits programs of which nothing is known: at 256 KB a 4 KB thread buffer reaches the shared heap once in 64 refills. It costs: what is left in the
/// buffers at a collection, 512 KB in each of two, made a young generation of 64 MB collect 1.011 times as often as without buffers where
/// threads allocate arrays that fit no tail (130 and 200 KB; `cargo xtask waste`); 256 KB 1.005 times.
pub const LARGEST: usize = 256 << 10;
/// As large a buffer may become where it is seen that refills cost and that little is left behind ([`crate::adaptive`]): with TLABs of
/// 1 KB, allocation alone is 1.05 times as fast with 1 MB as with 256 KB (`cargo xtask sizing`).
pub const GROWN: usize = 1 << 20;
/// Smaller than this a buffer is refilled too often to be worth its place.
pub const SMALLEST: usize = 16 << 10;

/// What is to be sized: a level of buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Bytes of a buffer that were asked for; `None` leaves that to us.
    pub asked: Option<usize>,
    /// Domains of the level that serve.
    pub domains: usize,
    /// Domains that there can be, those for CPUs that turn up later among them.
    pub possible: usize,
    /// Bytes of a buffer at most where the size is ours to choose: [`LARGEST`], or [`GROWN`].
    pub largest: usize,
}

/// What a heap bears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes of eden.
    pub eden: usize,
    /// The largest extent that the heap hands out, in bytes (HotSpot's `max_tlab_size`).
    pub largest_extent: usize,
    /// Whole grains.
    pub shape: Shape,
}

impl Room {
    /// The sizes in force for the levels in `wishes`, in bytes, in whole grains. A buffer that comes out smaller than a few requests
    /// passes them on; one that is smaller than asked for means that the heap is too small for the wish, which has to be said.
    pub fn sizes<const LEVELS: usize>(&self, wishes: [Wish; LEVELS]) -> [usize; LEVELS] {
        let wanted = wishes.map(|wish| {
            let domains = wish.domains.max(1);
            let bytes = wish.asked.unwrap_or_else(|| {
                (self.eden / EDEN_FRACTION / domains).clamp(SMALLEST, wish.largest.max(SMALLEST))
            });
            bytes.min(self.largest_extent)
        });
        let limit =
            if wishes.iter().any(|wish| wish.asked.is_some()) { ASKED_LIMIT } else { AUTOMATIC_LIMIT };
        let room = self.eden / limit;
        let most: usize = (wanted.iter().zip(&wishes))
            .map(|(bytes, wish)| {
                let domains = wish.possible.max(wish.domains).max(1);
                bytes.saturating_mul(domains * BUFFERS_PER_DOMAIN)
            })
            .fold(0, usize::saturating_add);
        // All levels give way in the same proportion.
        wanted.map(|bytes| {
            let bytes =
                if most > room { (bytes as u128 * room as u128 / most as u128) as usize } else { bytes };
            self.shape.floor(bytes)
        })
    }
}

/// The size of the buffers of an only level where none was asked for, in bytes.
pub fn automatic(eden: usize, domains: usize, largest_extent: usize, shape: Shape) -> usize {
    let [bytes] = Room { eden, largest_extent, shape }.sizes([Wish {
        asked: None,
        domains,
        possible: domains,
        largest: LARGEST,
    }]);
    bytes
}

/// The size of the buffers of an only level in force when `asked` bytes were asked for.
pub fn limited(asked: usize, eden: usize, domains: usize, largest_extent: usize, shape: Shape) -> usize {
    let [bytes] = Room { eden, largest_extent, shape }.sizes([Wish {
        asked: Some(asked),
        domains,
        possible: domains,
        largest: LARGEST,
    }]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHAPE: Shape = Shape { grain_shift: 3, min_remainder: 16 };

    fn room(eden: usize) -> Room {
        Room { eden, largest_extent: 1 << 30, shape: SHAPE }
    }

    fn automatic(domains: usize) -> Wish {
        Wish { asked: None, domains, possible: domains, largest: LARGEST }
    }

    fn asked(bytes: usize, domains: usize) -> Wish {
        Wish { asked: Some(bytes), domains, possible: domains, largest: LARGEST }
    }

    #[test]
    fn a_thirty_second_of_eden_for_the_buffers_that_serve() {
        assert_eq!(room(40 << 20).sizes([automatic(8)]), [160 << 10]);
    }

    #[test]
    fn bounds() {
        assert_eq!(room(64 << 30).sizes([automatic(2)]), [LARGEST]);
        assert_eq!(room(8 << 20).sizes([automatic(16)]), [SMALLEST]);
        assert_eq!(room(1 << 20).sizes([automatic(64)]), [512]);
        assert_eq!(Room { largest_extent: 100_001, ..room(64 << 30) }.sizes([automatic(2)]), [100_000]);
    }

    #[test]
    fn a_wish_is_cut_to_what_the_heap_bears() {
        assert_eq!(room(32 << 20).sizes([asked(8 << 20, 2)]), [1 << 20]);
        assert_eq!(room(32 << 20).sizes([asked(100_001, 2)]), [100_000]);
    }

    /// A process that is moved to other CPUs may have filled buffers on both.
    #[test]
    fn what_may_come_has_room_as_well() {
        let moved = |eden, possible| room(eden).sizes([Wish { possible, ..automatic(8) }]);
        assert_eq!([moved(40 << 20, 8), moved(40 << 20, 16)], [[160 << 10], [80 << 10]]);
        assert_eq!(moved(1 << 30, 16), [LARGEST], "where there is enough room it is no matter");
    }

    #[test]
    fn two_levels_share_the_room() {
        assert_eq!(room(32 << 20).sizes([asked(2 << 20, 2), asked(4 << 20, 1)]), [512 << 10, 1 << 20]);
        assert_eq!(room(6 << 20).sizes([asked(32 << 10, 2), asked(256 << 10, 1)]), [32 << 10, 256 << 10]);
    }

    proptest! {
        #[test]
        fn whatever_all_buffers_hold_is_at_most_the_fraction_that_is_promised(
            eden in 0usize..1 << 40, domains in [1usize..300, 1usize..300], asked in [0usize..1 << 26, 0usize..1 << 26],
            automatic in any::<[bool; 2]>(), grown in any::<[bool; 2]>(), more in [0usize..300, 0usize..300],
        ) {
            let wish = |at: usize| Wish {
                asked: (!automatic[at]).then_some(asked[at]),
                domains: domains[at],
                possible: domains[at] + more[at],
                largest: if grown[at] { GROWN } else { LARGEST },
            };
            let sizes = room(eden).sizes([wish(0), wish(1)]);
            let most: usize = (0..2).map(|at| sizes[at] * wish(at).possible * BUFFERS_PER_DOMAIN).sum();
            let limit = if automatic == [true; 2] { AUTOMATIC_LIMIT } else { ASKED_LIMIT };
            prop_assert!(most <= eden / limit, "{sizes:?} of {eden}");
        }
    }
}
