//! Making memory zero around the caches.

/// Makes `bytes` from `to` on zero with stores that go around the caches (x86-64: whole lines by the widest stores that the processor
/// has; what is over at both ends goes through the caches). They are ordered before everything that follows.
///
/// It pays for large ranges that are not used right afterwards: nothing is read from memory first, and the caches keep what they hold.
/// Other processors' `memset`, which is used there, goes around the caches by itself where that pays.
///
/// # Safety
/// The bytes are writable, and nobody else uses them meanwhile.
pub unsafe fn zero_around_caches(to: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as the caller vouches.
    unsafe {
        stream::zero(to, bytes, stream::widest());
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: as the caller vouches.
    unsafe {
        to.write_bytes(0, bytes);
    }
}

/// Streaming stores. A line that is not written by stores next to each other is written to memory in parts, so a line is the unit.
#[cfg(target_arch = "x86_64")]
mod stream {
    use std::arch::x86_64::*;

    /// The length of a cache line in bytes on every x86-64 processor that we know of.
    pub(super) const LINE: usize = 64;

    /// Makes so many lines zero.
    ///
    /// # Safety
    /// The processor has the stores; the address is a multiple of a line; the lines are writable and nobody else's.
    pub(super) type Stream = unsafe fn(*mut u8, usize);

    /// By the widest stores that this processor has.
    pub(super) fn widest() -> Stream {
        if is_x86_feature_detected!("avx512f") {
            by_64_bytes
        } else if is_x86_feature_detected!("avx") {
            by_32_bytes
        } else {
            by_16_bytes
        }
    }

    /// # Safety
    /// As [`super::zero_around_caches`], and the processor has the stores of `stream`.
    pub(super) unsafe fn zero(to: *mut u8, bytes: usize, stream: Stream) {
        let head = to.align_offset(LINE).min(bytes);
        let lines = (bytes - head) / LINE;
        let tail = bytes - head - lines * LINE;
        // SAFETY: three parts of the range, one behind the other; the second begins at a multiple of a line. SSE, of which the fence
        // is a part, belongs to x86-64.
        unsafe {
            to.write_bytes(0, head);
            stream(to.add(head), lines);
            to.add(head + lines * LINE).write_bytes(0, tail);
            // Streaming stores are ordered by nothing else: what follows could overtake them.
            _mm_sfence();
        }
    }

    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn by_64_bytes(to: *mut u8, lines: usize) {
        for line in 0..lines {
            // SAFETY: a line is 64 aligned bytes, the caller's.
            unsafe { _mm512_stream_si512(to.add(line * LINE).cast(), _mm512_setzero_si512()) };
        }
    }

    #[target_feature(enable = "avx")]
    pub(super) unsafe fn by_32_bytes(to: *mut u8, lines: usize) {
        for part in 0..lines * 2 {
            // SAFETY: a line is two aligned parts of 32 bytes, the caller's.
            unsafe { _mm256_stream_si256(to.add(part * 32).cast(), _mm256_setzero_si256()) };
        }
    }

    pub(super) unsafe fn by_16_bytes(to: *mut u8, lines: usize) {
        for part in 0..lines * 4 {
            // SAFETY: a line is four aligned parts of 16 bytes, the caller's; SSE2 belongs to x86-64.
            unsafe { _mm_stream_si128(to.add(part * 16).cast(), _mm_setzero_si128()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Zeroes parts at odd addresses and of odd lengths, and looks at them and around them.
    fn zeroes_exactly_its_range(zero: impl Fn(*mut u8, usize)) {
        for (start, bytes) in [(0, 0), (0, 64), (3, 129), (15, 1), (1, 1000), (63, 2), (64, 640), (17, 47)] {
            let mut memory = vec![0xaa_u8; start + bytes + 80];
            zero(memory[start..].as_mut_ptr(), bytes);
            let (before, rest) = memory.split_at(start);
            let (zeroed, behind) = rest.split_at(bytes);
            assert!(zeroed.iter().all(|byte| *byte == 0), "{start} {bytes}");
            assert!(before.iter().chain(behind).all(|byte| *byte == 0xaa), "{start} {bytes}");
        }
    }

    #[test]
    fn all_bytes_of_the_range_and_no_others_are_zero() {
        // SAFETY: inside a vector of the test's.
        zeroes_exactly_its_range(|to, bytes| unsafe { zero_around_caches(to, bytes) });
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn so_with_stores_of_every_width() {
        let mut streams: Vec<stream::Stream> = vec![stream::by_16_bytes];
        if is_x86_feature_detected!("avx") {
            streams.push(stream::by_32_bytes);
        }
        if is_x86_feature_detected!("avx512f") {
            streams.push(stream::by_64_bytes);
        }
        for by in streams {
            // SAFETY: inside a vector of the test's; the processor has these stores.
            zeroes_exactly_its_range(|to, bytes| unsafe { stream::zero(to, bytes, by) });
        }
    }
}
