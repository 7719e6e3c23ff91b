//! When memory is made zero, and how.

/// When memory is made zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zeroing {
    /// Never: what is handed out holds what was there before, of this arena or of an earlier one.
    #[default]
    None,
    /// A whole buffer at once, when it is refilled; large ones around the caches. What the kernel gave and nobody wrote to is zero
    /// already and left alone.
    AtRefill,
    /// Each allocation by itself.
    AtAllocation,
}

/// From so many bytes on a buffer is zeroed around the caches. `terrace lab run zeroing` measures it (the column of memory that is
/// only zeroed, on AMD family 26): `memset` is the best way below, for every size that is used right afterwards, and within the noise
/// of `rep stosb` for the smallest; around 4 MB, several times a core's second-level cache, storing around the caches overtakes it.
const AROUND_CACHES: usize = 4 << 20;

/// Zeroes what the program is about to write to: through the caches, whatever its size.
///
/// # Safety
/// The bytes are writable and nobody else's.
pub(crate) unsafe fn used_now(to: *mut u8, bytes: usize) {
    // SAFETY: as the caller vouches.
    unsafe { to.write_bytes(0, bytes) };
}

/// Zeroes a range most of which is used later: a large one would be out of the caches again by then, and what it drives out too.
///
/// # Safety
/// The bytes are writable and nobody else's.
pub(crate) unsafe fn used_later(to: *mut u8, bytes: usize) {
    // SAFETY: as the caller vouches.
    unsafe {
        if bytes >= AROUND_CACHES {
            pages::zero_around_caches(to, bytes);
        } else {
            to.write_bytes(0, bytes);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn both_ways_zero_their_range_and_no_neighbour() {
        let mut memory = vec![0xaa_u8; AROUND_CACHES + 256];
        for zero in [used_now, used_later] {
            // Below, at and above the limit; ends that are no multiples of a line.
            for (start, bytes) in
                [(1, 100), (13, AROUND_CACHES - 1), (8, AROUND_CACHES), (24, AROUND_CACHES + 120)]
            {
                memory.fill(0xaa);
                // SAFETY: inside the vector.
                unsafe { zero(memory[start..].as_mut_ptr(), bytes) };
                let (before, rest) = memory.split_at(start);
                let (zeroed, behind) = rest.split_at(bytes);
                assert!(zeroed.iter().all(|byte| *byte == 0), "{start} {bytes}");
                assert!(before.iter().chain(behind).all(|byte| *byte == 0xaa), "{start} {bytes}");
            }
        }
    }
}
