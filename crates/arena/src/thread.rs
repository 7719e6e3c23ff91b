//! Thread buffers: a top and an end in thread-local memory.
//!
//! A thread has one buffer at hand, of the arena that it used last; those of other arenas are put aside. An arena's number is never
//! used again, and a reset gives it a new one: a buffer with the arena's number is a buffer of this arena since its last reset.
//! So neither a reset nor a drop has to find the threads.

use crate::reserve::GRAIN;
use std::cell::Cell;

/// The buffer at hand. All zeros is a buffer of no arena: the look at the number is the look at the initialisation.
struct Local {
    arena: Cell<u64>,
    top: Cell<usize>,
    end: Cell<usize>,
    size: Cell<usize>,
}

/// A buffer put aside.
#[derive(Clone, Copy)]
struct Aside {
    arena: u64,
    top: usize,
    end: usize,
    size: usize,
}

const NONE: Aside = Aside { arena: 0, top: 0, end: 0, size: 0 };

/// Buffers of other arenas that a thread keeps.
const KEPT: usize = 16;
/// A request of more than this part of a buffer goes past it: a tail that is given up for another one is smaller.
const REQUESTS_PER_BUFFER: usize = 8;

/// The buffers put aside. In place, without a destructor: a list on the process's heap would be gone while a thread ends, could not
/// grow without memory, and would allocate in the middle of an allocation, perhaps from this very buffer.
struct Kept {
    places: [Cell<Aside>; KEPT],
    /// The place that is used next when the buffer that is fetched leaves none.
    next: Cell<usize>,
}

thread_local! {
    static LOCAL: Local =
        const { Local { arena: Cell::new(0), top: Cell::new(0), end: Cell::new(0), size: Cell::new(0) } };
    static ASIDE: Kept = const { Kept { places: [const { Cell::new(NONE) }; KEPT], next: Cell::new(0) } };
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
    LOCAL.with(|local| {
        // No overflow: addresses and sizes are below 2^63 each, alignments too.
        let start =
            if align <= GRAIN { local.top.get() } else { (local.top.get() + align - 1) & !(align - 1) };
        let top = start + bytes;
        if local.arena.get() != number || top > local.end.get() {
            return None;
        }
        local.top.set(top);
        Some(start)
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
    let old = Aside {
        arena: local.arena.get(),
        top: local.top.get(),
        end: local.end.get(),
        size: local.size.get(),
    };
    let new = ASIDE.with(|kept| {
        // Where the fetched one was, or the place that has not been used for longest; what is there is lost, which only wastes it.
        let place = kept.places.iter().find(|place| place.get().arena == number).unwrap_or_else(|| {
            let next = kept.next.get();
            kept.next.set((next + 1) % KEPT);
            &kept.places[next]
        });
        let there = place.replace(old);
        if there.arena == number { there } else { Aside { arena: number, ..NONE } }
    });
    local.arena.set(number);
    local.top.set(new.top);
    local.end.set(new.end);
    local.size.set(new.size);
}

/// Makes a fetched range the buffer at hand.
pub(crate) fn install(number: u64, start: usize, bytes: usize) {
    LOCAL.with(|local| {
        local.arena.set(number);
        local.top.set(start);
        local.end.set(start + bytes);
        local.size.set(bytes);
    });
}
