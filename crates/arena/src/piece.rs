//! The memory of one segment, and the word that it is published as.

use pages::{Mapping, Policy};
use std::ptr::NonNull;

/// The first segment of an arena that grows.
pub(crate) const FIRST: usize = 64 << 10;

/// In the low bits of an address, which is that of a page: the pages' kind, ...
pub(crate) const POLICY: usize = 3;
/// ... and whether the memory was an earlier arena's, so that it may not be zero.
pub(crate) const USED: usize = 4;
pub(crate) const FLAGS: usize = POLICY | USED;

/// Memory, and whether it was an earlier arena's.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) mapping: Mapping,
    pub(crate) used: bool,
}

impl Piece {
    pub(crate) fn pack(self) -> usize {
        let (base, _, policy) = self.mapping.into_raw();
        let policy = Policy::ALL.iter().position(|one| *one == policy).unwrap_or(0);
        base.as_ptr().expose_provenance() | policy | if self.used { USED } else { 0 }
    }

    /// The mapping of a word from `pack`.
    ///
    /// # Safety
    /// From there, of so many bytes, once.
    pub(crate) unsafe fn unpack(word: usize, len: usize) -> Piece {
        let base = NonNull::new(std::ptr::with_exposed_provenance_mut(word & !FLAGS));
        let policy = Policy::ALL[word & POLICY];
        // SAFETY: the caller's promise; a mapping is not at 0.
        let mapping = unsafe { Mapping::from_raw(base.unwrap_unchecked(), len, policy) };
        Piece { mapping, used: word & USED != 0 }
    }
}
