//! The address range that an arena hands out, from its beginning to its limit: the top that all threads share.

use crate::primitive::{AtomicSize, Ordering};
use hab::{CpuIndex, Extent, Source};

/// Everything is cut in grains of this many bytes.
pub(crate) const GRAIN_SHIFT: u32 = 3;
/// In bytes.
pub(crate) const GRAIN: usize = 1 << GRAIN_SHIFT;

/// A range of addresses and how much of it is handed out. It knows nothing of the memory behind it.
#[derive(Debug)]
pub(crate) struct Reserve {
    base: usize,
    /// Bytes that may be handed out, a whole number of grains.
    limit: usize,
    /// Bytes that are.
    used: AtomicSize,
}

impl Reserve {
    /// The `limit` bytes from `base`, both whole numbers of grains.
    pub(crate) fn new(base: usize, limit: usize) -> Reserve {
        Reserve { base, limit: limit & !(GRAIN - 1), used: AtomicSize::new(0) }
    }

    /// The first address.
    pub(crate) fn base(&self) -> usize {
        self.base
    }

    /// Bytes that may be handed out.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Bytes handed out.
    pub(crate) fn used(&self) -> usize {
        // Relaxed: a statistic, or the caller is alone.
        self.used.load(Ordering::Relaxed)
    }

    /// Hands out exactly `bytes` at an address that is a multiple of `align` (a power of two); what is skipped is lost.
    pub(crate) fn aligned(&self, bytes: usize, align: usize) -> Option<usize> {
        // Relaxed: the exchange checks the value.
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            let start = (self.base + used).checked_next_multiple_of(align)?;
            let end = (start - self.base).checked_add(bytes)?.checked_next_multiple_of(GRAIN)?;
            if end > self.limit {
                return None;
            }
            // Relaxed: the bytes are nobody's before and this thread's after; nothing is published with them.
            match self.used.compare_exchange_weak(used, end, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(start),
                Err(now) => used = now,
            }
        }
    }

    /// Takes everything beyond the first `used` bytes back. The caller is alone.
    pub(crate) fn reset_to(&self, used: usize) {
        // Relaxed: nobody else looks; whoever does later is ordered by what handed the arena over.
        self.used.store(used, Ordering::Relaxed);
    }
}

impl Source for Reserve {
    fn acquire(&self, _cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        // Relaxed: as in `aligned`.
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            let bytes = desired.min(self.limit - used);
            if bytes < min || bytes == 0 {
                return None;
            }
            match self.used.compare_exchange_weak(used, used + bytes, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(Extent { start: self.base + used, bytes }),
                Err(now) => used = now,
            }
        }
    }

    fn available(&self, _cpu: CpuIndex) -> usize {
        self.limit - self.used()
    }

    /// Nothing needs to stand in a tail: nobody walks an arena.
    fn retire(&self, _tail: Extent) {}
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const CPU: CpuIndex = CpuIndex(0);

    #[test]
    fn hands_out_to_the_limit_and_no_further() {
        let reserve = Reserve::new(0x1000, 104);
        assert_eq!(reserve.acquire(CPU, 8, 64), Some(Extent { start: 0x1000, bytes: 64 }));
        assert_eq!(reserve.acquire(CPU, 48, 64), None, "fewer than min are left");
        assert_eq!(reserve.acquire(CPU, 8, 64), Some(Extent { start: 0x1040, bytes: 40 }));
        assert_eq!((reserve.acquire(CPU, 8, 8), reserve.available(CPU)), (None, 0));
        reserve.reset_to(64);
        assert_eq!(reserve.available(CPU), 40);
    }

    #[test]
    fn alignment_is_kept_and_overflow_is_none() {
        let reserve = Reserve::new(0x1008, 1 << 20);
        assert_eq!(reserve.aligned(1, 64), Some(0x1040));
        assert_eq!(reserve.aligned(8, 8), Some(0x1048), "ends are whole grains");
        assert_eq!(reserve.aligned(usize::MAX - 8, 8), None);
        assert_eq!(reserve.aligned(8, 1 << 63), None);
    }
}
