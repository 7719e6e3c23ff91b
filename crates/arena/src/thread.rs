//! Thread buffers: a top and an end in thread-local memory.
//!
//! A thread has one buffer at hand; those of other arenas are put aside. An arena's number is never used again, and a reset gives it a
//! new one: a buffer with the arena's number is a buffer of this arena since its last reset. So neither a reset nor a drop has to find
//! the threads.
//!
//! A buffer that was put aside serves where it is while the one at hand is in use too; it comes to hand when it is wanted twice in a
//! row. Arenas that are used by turns so leave each other's buffers where they are.
//!
//! A thread keeps [`KEPT`] buffers put aside. With more arenas by turns than that and one, each comes back to no buffer, and takes a first one
//! again each time.

use crate::grain::GRAIN;
use hab::Extent;
use std::cell::Cell;

/// A buffer. All zeros is a buffer of no arena: the look at the number is the look at the initialisation.
struct Local {
    arena: Cell<u64>,
    top: Cell<usize>,
    end: Cell<usize>,
    size: Cell<usize>,
}

impl Local {
    const fn none() -> Local {
        Local { arena: Cell::new(0), top: Cell::new(0), end: Cell::new(0), size: Cell::new(0) }
    }

    #[inline(always)]
    fn take(&self, number: u64, bytes: usize, align: usize) -> Option<usize> {
        // No overflow: addresses and sizes are below 2^63 each, alignments too.
        let start = if align <= GRAIN { self.top.get() } else { (self.top.get() + align - 1) & !(align - 1) };
        let top = start + bytes;
        if self.arena.get() != number || top > self.end.get() {
            return None;
        }
        self.top.set(top);
        Some(start)
    }

    fn set(&self, number: u64, start: usize, bytes: usize) {
        self.arena.set(number);
        self.top.set(start);
        self.end.set(start + bytes);
        self.size.set(bytes);
    }

    fn rest(&self) -> Extent {
        Extent { start: self.top.get(), bytes: self.end.get() - self.top.get() }
    }

    fn swap(&self, other: &Local) {
        self.arena.swap(&other.arena);
        self.top.swap(&other.top);
        self.end.swap(&other.end);
        self.size.swap(&other.size);
    }
}

/// Buffers of other arenas that a thread keeps.
const KEPT: usize = 16;
/// A request of more than this part of a buffer goes past it: a tail that is given up for another one is smaller.
const REQUESTS_PER_BUFFER: usize = 8;

/// The buffers put aside. In place, without a destructor: a list on the process's heap would be gone while a thread ends, could not
/// grow without memory, and would allocate in the middle of an allocation, perhaps from this very buffer.
struct Kept {
    places: [Place; KEPT],
    /// The place that is looked at next when one is needed.
    next: Cell<usize>,
    /// The arena whose buffer was wanted last.
    wanted: Cell<u64>,
    /// The top of the buffer at hand then: while it stays so, the one at hand is not in use.
    seen: Cell<usize>,
    /// How many were wanted since then.
    since: Cell<usize>,
}

struct Place {
    buffer: Local,
    /// Whether it served since it was last looked at for its place.
    is_used: Cell<bool>,
}

impl Place {
    const fn none() -> Place {
        Place { buffer: Local::none(), is_used: Cell::new(false) }
    }
}

impl Kept {
    fn of(&self, number: u64) -> Option<&Place> {
        self.places.iter().find(|place| place.buffer.arena.get() == number)
    }

    /// An empty place, or one that has not served for as long as all others were looked at; what is there is lost, which only wastes it.
    /// Buffers of arenas that are no more, which nobody tells of, so leave before those that are in use.
    fn free(&self) -> &Place {
        if let Some(place) = self.of(0) {
            return place;
        }
        loop {
            let next = self.next.get();
            self.next.set((next + 1) % KEPT);
            let place = &self.places[next];
            if !place.is_used.replace(false) {
                return place;
            }
        }
    }

    /// Hears that arena `number` wants its buffer while the one at hand ends at `top`; whether that should come to hand.
    #[inline(always)]
    fn comes_to_hand(&self, number: u64, top: usize) -> bool {
        let again = self.wanted.replace(number) == number;
        if self.seen.replace(top) != top {
            self.since.set(0);
            return false;
        }
        let since = self.since.get() + 1;
        self.since.set(since);
        // The second: others are used by turns, and the one at hand is not among them.
        again || since >= KEPT
    }
}

thread_local! {
    static LOCAL: Local = const { Local::none() };
    static ASIDE: Kept =
        const { Kept { places: [const { Place::none() }; KEPT], next: Cell::new(0), wanted: Cell::new(0), seen: Cell::new(0), since: Cell::new(0) } };
}

/// The sizes of thread buffers, in bytes: the first, and what it doubles to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// Takes `bytes` (whole grains) at a multiple of `align` (a power of two) from the buffer at hand, if it is arena `number`'s.
///
/// Cost: a compare of the number, an add, a bounds check, a store; all in this thread's memory.
#[inline(always)]
pub(crate) fn take(number: u64, bytes: usize, align: usize) -> Option<usize> {
    LOCAL.with(|local| local.take(number, bytes, align))
}

/// The same from arena `number`'s buffer put aside, where it is. Nothing if the buffer at hand is the arena's, or is not in use while
/// this one is wanted: then [`miss`] brings this one to hand.
///
/// Cost: a look through the buffers put aside, and as [`take`].
#[inline(always)]
pub(crate) fn take_aside(number: u64, bytes: usize, align: usize) -> Option<usize> {
    let (at_hand, top) = LOCAL.with(|local| (local.arena.get(), local.top.get()));
    ASIDE.with(|kept| {
        if at_hand == number || kept.comes_to_hand(number, top) {
            return None;
        }
        let place = kept.of(number)?;
        place.is_used.set(true);
        place.buffer.take(number, bytes, align)
    })
}

/// What to do for a request that the buffer at hand does not serve.
pub(crate) enum Slow {
    /// Try again: the arena's own buffer is at hand now.
    Again,
    /// Fetch a buffer of so many bytes and [`install`] it.
    Refill(usize),
    /// Serve it past the buffer.
    Past,
}

/// Brings the arena's buffer to hand and says what to do for a request of so many bytes with the alignment's gap.
pub(crate) fn miss(number: u64, bytes: usize, sizes: Sizes) -> Slow {
    LOCAL.with(|local| {
        if local.arena.get() != number {
            exchange(local, number);
            if local.end.get() - local.top.get() >= bytes {
                return Slow::Again;
            }
        }
        let size = (local.size.get() * 2).clamp(sizes.first, sizes.last);
        if bytes > size / REQUESTS_PER_BUFFER { Slow::Past } else { Slow::Refill(size) }
    })
}

/// Puts the buffer at hand aside and brings arena `number`'s to hand, or an empty one.
#[cold]
fn exchange(local: &Local, number: u64) {
    ASIDE.with(|kept| {
        if let Some(place) = kept.of(number) {
            local.swap(&place.buffer);
            return;
        }
        // An empty buffer at hand takes no place.
        if local.arena.get() != 0 {
            local.swap(&kept.free().buffer);
        }
        local.set(number, 0, 0);
    });
}

/// Makes a fetched range the buffer at hand.
pub(crate) fn install(number: u64, start: usize, bytes: usize) {
    LOCAL.with(|local| local.set(number, start, bytes));
}

/// Makes a block at the top of arena `number`'s buffer at hand one of so many bytes, whole grains; whether it did.
#[inline]
pub(crate) fn resize(number: u64, block: Extent, bytes: usize) -> bool {
    LOCAL.with(|local| {
        let top = block.start + bytes;
        let fits = local.arena.get() == number && local.top.get() == block.end() && top <= local.end.get();
        if fits {
            local.top.set(top);
        }
        fits
    })
}

/// This thread's buffer of an arena, wherever it is.
fn of<T>(number: u64, with: impl FnOnce(&Local) -> T) -> Option<T> {
    LOCAL.with(|local| match local.arena.get() == number {
        true => Some(with(local)),
        false => ASIDE.with(|kept| kept.of(number).map(|place| with(&place.buffer))),
    })
}

/// Empties this thread's buffer of arena `number`, which is no more: what it held.
pub(crate) fn give_up(number: u64) -> Option<Extent> {
    let rest = of(number, |local| {
        let rest = local.rest();
        local.set(0, 0, 0);
        rest
    });
    rest.filter(|rest| rest.bytes > 0)
}

/// Takes `desired` bytes from this thread's buffer of arena `number`, or all that it holds if that is at least `min`.
pub(crate) fn lend(number: u64, min: usize, desired: usize) -> Option<Extent> {
    of(number, |local| {
        let rest = local.rest();
        let (lent, _) = rest.split(desired.min(rest.bytes));
        let serves = lent.bytes >= min.max(GRAIN);
        serves.then(|| {
            local.top.set(lent.end());
            lent
        })
    })?
}

/// Makes a range part of this thread's buffer of arena `number` if it ends where that begins, or all of it if that holds less. A thread
/// without such a buffer has one then, at hand.
pub(crate) fn adopt(number: u64, rest: Extent) {
    let take = |local: &Local| {
        if local.top.get() == rest.end() {
            local.top.set(rest.start);
        } else if local.rest().bytes < rest.bytes {
            local.top.set(rest.start);
            local.end.set(rest.end());
        }
    };
    if of(number, take).is_none() {
        LOCAL.with(|local| {
            exchange(local, number);
            take(local);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes { first: 4096, last: 4096 };
    /// Numbers of no arena that there will ever be, and their buffers.
    const ONE: (u64, usize) = (u64::MAX - 1, 1 << 20);
    const OTHER: (u64, usize) = (u64::MAX - 2, 2 << 20);

    /// Buffers of both, the other's at hand.
    fn begin() {
        for (number, start) in [ONE, OTHER] {
            assert!(matches!(miss(number, 8, SIZES), Slow::Refill(4096)));
            install(number, start, 4096);
        }
    }

    #[test]
    fn buffers_used_by_turns_stay_where_they_are() {
        begin();
        for turn in 0..100 {
            assert_eq!(take(OTHER.0, 8, 8), Some(OTHER.1 + turn * 8));
            assert_eq!(take(ONE.0, 8, 8), None);
            assert_eq!(take_aside(ONE.0, 8, 8), Some(ONE.1 + turn * 8));
            assert_eq!(take_aside(OTHER.0, 4096, 8), None, "it is at hand, and too short");
        }
        assert_eq!(take(OTHER.0, 8, 8), Some(OTHER.1 + 800));
        assert_eq!(take_aside(ONE.0, 8, 64), Some(ONE.1 + 832));
    }

    #[test]
    fn a_buffer_wanted_twice_in_a_row_comes_to_hand_as_it_is() {
        begin();
        assert!(take(OTHER.0, 8, 8).is_some());
        assert_eq!(take_aside(ONE.0, 16, 8), Some(ONE.1));
        assert_eq!(take_aside(ONE.0, 8, 8), None);
        assert!(matches!(miss(ONE.0, 8, SIZES), Slow::Again));
        assert_eq!(take(ONE.0, 8, 8), Some(ONE.1 + 16));
        assert_eq!(take_aside(OTHER.0, 8, 8), Some(OTHER.1 + 8));
    }

    #[test]
    fn of_buffers_used_by_turns_one_comes_to_hand_if_that_at_hand_is_not_in_use() {
        begin();
        let third = u64::MAX - 4;
        assert!(matches!(miss(third, 8, SIZES), Slow::Refill(4096)));
        install(third, 4 << 20, 4096);
        let served = (0..KEPT * 2).position(|turn| take_aside([ONE.0, OTHER.0][turn % 2], 8, 8).is_none());
        assert_eq!(served, Some(KEPT));
    }

    #[test]
    fn a_buffer_put_aside_ends_where_it_ended() {
        begin();
        let mut served = 0;
        while take(OTHER.0, 8, 8).is_some() && take_aside(ONE.0, 24, 8).is_some() {
            served += 24;
        }
        assert_eq!(served, 4096 / 24 * 24);
        assert_eq!(take_aside(u64::MAX - 3, 8, 8), None, "nobody's");
    }
}
