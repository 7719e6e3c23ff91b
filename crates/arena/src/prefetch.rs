//! Prefetch ahead of the bump pointer.

/// Asks for the line at an address, to be written to soon. Any address will do: one without memory is ignored.
///
/// Cost: an instruction that waits for nothing. None where stable Rust offers none.
#[inline(always)]
pub(crate) fn prefetch(address: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a hint, which neither reads nor faults.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(std::ptr::without_provenance(address)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
