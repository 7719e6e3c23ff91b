//! When memory is made zero.

/// When memory is made zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zeroing {
    /// Never: what a reset arena hands out holds what was there before.
    #[default]
    None,
    /// A whole buffer at once, when it is refilled. What the kernel gave and nobody wrote to is zero already and left alone.
    AtRefill,
    /// Each allocation by itself.
    AtAllocation,
}
