//! What everything in an arena is cut in.

/// The binary logarithm of [`GRAIN`].
pub(crate) const GRAIN_SHIFT: u32 = 3;
/// In bytes.
pub(crate) const GRAIN: usize = 1 << GRAIN_SHIFT;
/// The largest alignment that core buffers serve: a larger gap is not worth their bytes. All that they count from begins at a multiple of it.
pub(crate) const MOST_ALIGNED: usize = 256;

/// What there may have to be skipped for a multiple of `align` (a power of two), in bytes: at most.
#[inline(always)]
pub(crate) fn most_skipped(align: usize) -> usize {
    align.saturating_sub(GRAIN)
}

/// The first multiple of `align` (a power of two) from an address on.
#[inline(always)]
pub(crate) fn aligned(address: usize, align: usize) -> usize {
    if align <= GRAIN { address } else { (address + align - 1) & !(align - 1) }
}
