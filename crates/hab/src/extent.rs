//! Half-open address ranges.

/// The bytes from `start` up to, not including, `start + bytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Address of the first byte. An address, not a pointer: this crate never touches the memory.
    pub start: usize,
    /// Length in bytes.
    pub bytes: usize,
}

impl Extent {
    /// Address of the first byte behind.
    #[inline(always)]
    pub const fn end(self) -> usize {
        self.start + self.bytes
    }

    /// Splits off the first `bytes`; the second part may be empty.
    #[inline(always)]
    pub const fn split(self, bytes: usize) -> (Extent, Extent) {
        debug_assert!(bytes <= self.bytes);
        (Extent { start: self.start, bytes }, Extent { start: self.start + bytes, bytes: self.bytes - bytes })
    }
}
