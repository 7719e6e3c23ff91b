//! What every allocation looks at, in one cache line.

use crate::percpu::Fast;

/// The part of an arena that every allocation looks at. A line of its own: read by all threads, written to by none but a reset.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Front {
    /// Never the same for two arenas, nor before and after a reset.
    pub(crate) number: u64,
    /// The way to the core buffers where there are no thread buffers; of the arena's levels.
    pub(crate) fast: Option<Fast>,
    /// How far ahead of an allocation memory is prefetched, in bytes.
    pub(crate) prefetch: usize,
    pub(crate) first: First,
}

/// What an allocation tries first: one look decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// The thread's buffer.
    Thread,
    /// The core's buffer in a restartable sequence.
    Sequence,
    /// Something that takes longer than a call: a compare and swap, or zeroing.
    Call,
}

const _: () = assert!(size_of::<Front>() == 64);
