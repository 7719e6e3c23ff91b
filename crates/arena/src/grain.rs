//! What everything in an arena is cut in.

/// The binary logarithm of [`GRAIN`].
pub(crate) const GRAIN_SHIFT: u32 = 3;
/// In bytes.
pub(crate) const GRAIN: usize = 1 << GRAIN_SHIFT;
