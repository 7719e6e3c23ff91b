//! One extent being handed out, in one atomic word.
//!
//! The paper keeps `top` and `end` apart and guards them by a value of `top` that means "being refilled". Two words can be read
//! as the top of one extent and the end of another; here top and rest are fields of **one** word, so a mixed pair cannot be
//! expressed, and whoever exchanges the word has seen the buffer's whole state:
//!
//! ```text
//!   63                                24 23                 0
//!  +------------------------------------+--------------------+
//!  | top - base, in grains (40 bits)    | rest, in grains    |
//!  +------------------------------------+--------------------+
//!   empty: all zeros       being refilled: all ones
//! ```
//!
//! With 8-byte grains that is 8 TB of heap and 128 MB less two grains of buffer. The word has no ABA problem: a word that
//! returns to an earlier value describes the same free bytes, whatever happened in between.

use crate::atomics::{Atomics, Ordering, Processor, Word};
use crate::{Extent, Shape};
use core::marker::PhantomData;

const REST_BITS: u32 = 24;
const REST_MASK: u64 = (1 << REST_BITS) - 1;
const EMPTY: u64 = 0;
const REFILLING: u64 = u64::MAX;

/// How a buffer's word is changed.
pub trait Access: Sized {
    /// Whether threads of other domains may take from the buffer.
    const SHARED: bool;

    /// Stores `new` if the word still is `old`; says whether it did.
    #[doc(hidden)]
    fn exchange(word: &impl Word, old: u64, new: u64) -> bool;
}

/// Any thread may use the buffer: compare and swap.
#[derive(Debug)]
pub struct Shared;

/// One thread alone uses the buffer (others only while it stands still): a plain store.
///
/// This is the bound for measurements: what a level would cost if nothing had to be shared.
#[derive(Debug)]
pub struct Private;

impl Access for Shared {
    const SHARED: bool = true;

    #[inline(always)]
    fn exchange(word: &impl Word, old: u64, new: u64) -> bool {
        // AcqRel. Acquire: whoever takes bytes sees everything the refiller did before it published them (its Release).
        // Release: for the refiller's own publication, and so that a claim is ordered behind the claimer's earlier work.
        // Relaxed on failure: the value is only tried again.
        word.exchange(old, new, Ordering::AcqRel, Ordering::Relaxed)
    }
}

impl Access for Private {
    const SHARED: bool = false;

    #[inline(always)]
    fn exchange(word: &impl Word, _old: u64, new: u64) -> bool {
        // Relaxed: only this thread reads it, and others only when a safepoint has ordered them behind it.
        word.store(new, Ordering::Relaxed);
        true
    }
}

/// What a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Empty,
    /// Nothing, and one thread is fetching a new extent: only that thread may publish.
    Refilling,
    /// These bytes are free.
    Free(Extent),
}

/// What became of a request at one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carve {
    /// Served.
    Served(Extent),
    /// Somebody is refilling.
    Refilling,
    /// So many free bytes are too few.
    Short { rest: usize },
}

/// Where a level's buffers lie and how they are cut: constant for the life of a level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) base: usize,
    pub(crate) shape: Shape,
}

impl Shape {
    /// The largest buffer that the word can describe, in bytes; all ones is taken.
    pub const fn max_buffer(self) -> usize {
        (REST_MASK as usize - 1) << self.grain_shift
    }

    /// How far from the base an extent may end, in bytes.
    pub const fn max_span(self) -> usize {
        ((1usize << (64 - REST_BITS)) - 2) << self.grain_shift
    }
}

impl Frame {
    /// An extent of no bytes.
    pub(crate) const fn nothing(self) -> Extent {
        Extent { start: self.base, bytes: 0 }
    }

    #[inline(always)]
    fn pack(self, extent: Extent) -> u64 {
        if extent.bytes == 0 {
            return EMPTY;
        }
        let top = ((extent.start - self.base) >> self.shape.grain_shift) as u64;
        top << REST_BITS | (extent.bytes >> self.shape.grain_shift) as u64
    }

    #[inline(always)]
    fn unpack(self, word: u64) -> Extent {
        Extent {
            start: self.base + (((word >> REST_BITS) as usize) << self.shape.grain_shift),
            bytes: ((word & REST_MASK) as usize) << self.shape.grain_shift,
        }
    }
}

/// A buffer of a domain.
///
/// "No buffer yet" is an empty buffer: the check for room is the check for initialisation.
#[derive(Debug)]
pub struct Buffer<A, M: Atomics = Processor> {
    word: M::Word,
    /// How often a request found the tail too small and left it. Slow path only; a lost count does no harm.
    kept: M::Relaxed,
    access: PhantomData<A>,
}

impl<A: Access, M: Atomics> Default for Buffer<A, M> {
    fn default() -> Self {
        Buffer { word: M::Word::new(EMPTY), kept: M::Relaxed::new(0), access: PhantomData }
    }
}

impl<A: Access, M: Atomics> Buffer<A, M> {
    /// Takes `min` to `desired` bytes from what is there. Never refills, never waits for another thread.
    ///
    /// Cost when it fits: a load, a comparison, an exchange of a line that this domain owns.
    #[inline(always)]
    pub(crate) fn carve(&self, frame: Frame, min: usize, desired: usize) -> Carve {
        loop {
            // Relaxed: the exchange checks the value, and orders.
            let word = self.word.load(Ordering::Relaxed);
            if word == REFILLING {
                return Carve::Refilling;
            }
            let free = frame.unpack(word);
            let bytes = frame.shape.cut(free.bytes, min, desired);
            if bytes == 0 {
                return Carve::Short { rest: free.bytes };
            }
            let (taken, rest) = free.split(bytes);
            if A::exchange(&self.word, word, frame.pack(rest)) {
                return Carve::Served(taken);
            }
        }
    }

    /// Begins a refill: makes this thread the only one that may publish, and hands it the old tail. `None` if another thread is
    /// refilling, or if the buffer meanwhile holds more than `at_most` bytes. Pairs with [`Buffer::publish`].
    pub(crate) fn claim(&self, frame: Frame, at_most: usize) -> Option<Extent> {
        loop {
            // Relaxed: the exchange checks the value, and orders.
            let word = self.word.load(Ordering::Relaxed);
            let free = frame.unpack(word);
            if word == REFILLING || free.bytes > at_most {
                return None;
            }
            if A::exchange(&self.word, word, REFILLING) {
                return Some(free);
            }
        }
    }

    /// Ends a refill that this thread began with [`Buffer::claim`]. An empty extent leaves the buffer empty.
    pub(crate) fn publish(&self, frame: Frame, extent: Extent) {
        debug_assert!(extent.bytes <= frame.shape.max_buffer());
        self.kept.store(0, Ordering::Relaxed);
        // A plain store is enough: nobody else changes a word that says "being refilled", not even retirement.
        // Release: whoever takes bytes (Acquire in `exchange`) sees what this thread did to obtain them.
        self.word.store(frame.pack(extent), Ordering::Release);
    }

    /// Empties the buffer and hands out its tail (empty if there is none). A refill under way is left alone: its owner will
    /// publish, however long it takes.
    pub(crate) fn take(&self, frame: Frame) -> Extent {
        loop {
            // Relaxed: the exchange checks the value, and orders.
            let word = self.word.load(Ordering::Relaxed);
            if word == REFILLING || word == EMPTY {
                return frame.nothing();
            }
            if A::exchange(&self.word, word, EMPTY) {
                return frame.unpack(word);
            }
        }
    }

    /// By how much the refill-waste limit has grown: 1 for a fresh buffer.
    pub(crate) fn patience(&self) -> usize {
        self.kept.load(Ordering::Relaxed) as usize + 1
    }

    /// Notes that the tail was in the way of a request once more (HotSpot's `TLABWasteIncrement` has the same purpose).
    pub(crate) fn lose_patience(&self) {
        self.kept.store(self.kept.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// What the buffer holds at this moment.
    pub(crate) fn state(&self, frame: Frame) -> State {
        // Relaxed: a hint; nothing is taken on its strength.
        match self.word.load(Ordering::Relaxed) {
            EMPTY => State::Empty,
            REFILLING => State::Refilling,
            word => State::Free(frame.unpack(word)),
        }
    }

    /// Bytes that are free at this moment; 0 while it is being refilled.
    pub(crate) fn rest(&self, frame: Frame) -> usize {
        match self.state(frame) {
            State::Free(free) => free.bytes,
            State::Empty | State::Refilling => 0,
        }
    }
}
