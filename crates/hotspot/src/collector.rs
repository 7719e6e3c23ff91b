//! Which collectors are supported, and which hooks each of them needs.
//!
//! A new collector is one more entry of [`Collector::ALL`] here.

use crate::Error;
use crate::version::{Feature, Since};

/// A collector of HotSpot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collector {
    /// Serial.
    Serial,
    /// Parallel.
    Parallel,
    /// G1.
    G1,
    /// Shenandoah.
    Shenandoah,
    /// Generational Shenandoah (JDK 24 and later).
    GenerationalShenandoah,
    /// Epsilon, which never collects.
    Epsilon,
    /// ZGC: refused.
    Z,
}

/// Which of the optional hooks a collector needs. `allocate_new_tlab` and the event GarbageCollectionStart are needed by all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// `ensure_parsability`: retire before the heap is walked. Shenandoah walks marked objects, and its override is empty and
    /// folded with another empty function.
    pub parsability: bool,
    /// `unsafe_max_tlab_alloc`: what buffers hold counts as free, where a thread would otherwise collect at eden's end while
    /// buffers still hold memory.
    pub available: bool,
    /// `trace_heap`: G1's young pauses call neither `ensure_parsability` nor, after VMDeath, the event.
    pub trace: bool,
    /// `mem_allocate`: single objects may be carved from a buffer.
    pub objects: bool,
}

/// When HotSpot takes the heap's lock (`Heap_lock`, Shenandoah's own) to serve a TLAB or an object without a collection, as far as this can
/// be told from what was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// It cannot.
    Unknown,
    /// When a region of so many bytes begins.
    Regions(usize),
    /// Each time.
    Always,
}

impl Lock {
    /// Whether it was taken for what begins at `start`, in a heap that begins at `base`.
    #[inline(always)]
    pub fn taken_for(self, start: usize, base: usize) -> bool {
        match self {
            Lock::Unknown => false,
            Lock::Regions(bytes) => start != 0 && start.wrapping_sub(base) & (bytes - 1) == 0,
            Lock::Always => true,
        }
    }
}

/// Collectors of which terrace knows no more than the flag that chooses them and their name.
pub(crate) const UNSUPPORTED: [(&str, &str); 1] = [("UseConcMarkSweepGC", "CMS")];

impl Collector {
    /// All of them.
    pub const ALL: [Collector; 7] = [
        Collector::Serial,
        Collector::Parallel,
        Collector::G1,
        Collector::GenerationalShenandoah,
        Collector::Shenandoah,
        Collector::Epsilon,
        Collector::Z,
    ];

    /// The name used in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Collector::Serial => "Serial",
            Collector::Parallel => "Parallel",
            Collector::G1 => "G1",
            Collector::Shenandoah => "Shenandoah",
            Collector::GenerationalShenandoah => "generational Shenandoah",
            Collector::Epsilon => "Epsilon",
            Collector::Z => "ZGC",
        }
    }

    /// The flag that chooses it. Generational Shenandoah is Shenandoah with one more flag, see [`Collector::mode`].
    pub const fn flag(self) -> &'static str {
        match self {
            Collector::Serial => "UseSerialGC",
            Collector::Parallel => "UseParallelGC",
            Collector::G1 => "UseG1GC",
            Collector::Shenandoah | Collector::GenerationalShenandoah => "UseShenandoahGC",
            Collector::Epsilon => "UseEpsilonGC",
            Collector::Z => "UseZGC",
        }
    }

    /// The text flag and value that must hold besides [`Collector::flag`].
    pub const fn mode(self) -> Option<(&'static str, &'static str)> {
        match self {
            Collector::GenerationalShenandoah => Some(("ShenandoahGCMode", "generational")),
            _ => None,
        }
    }

    /// The symbol of its heap class's vtable.
    pub const fn vtable(self) -> &'static str {
        match self {
            Collector::Serial => "_ZTV10SerialHeap",
            Collector::Parallel => "_ZTV20ParallelScavengeHeap",
            Collector::G1 => "_ZTV15G1CollectedHeap",
            Collector::Shenandoah => "_ZTV14ShenandoahHeap",
            Collector::GenerationalShenandoah => "_ZTV26ShenandoahGenerationalHeap",
            Collector::Epsilon => "_ZTV11EpsilonHeap",
            Collector::Z => "_ZTV14ZCollectedHeap",
        }
    }

    /// When it takes the heap's lock; `region`: `G1HeapRegionSize`, once HotSpot has chosen it.
    pub fn lock(self, region: Option<usize>) -> Lock {
        match self {
            Collector::G1 => {
                region.filter(|bytes| bytes.is_power_of_two()).map_or(Lock::Unknown, Lock::Regions)
            }
            Collector::Shenandoah | Collector::GenerationalShenandoah => Lock::Always,
            _ => Lock::Unknown,
        }
    }

    /// Refuses it in versions where buffers are not safe in it. Since JDK 26 no event announces pauses from the moment on in which VMDeath is
    /// told, and Shenandoah, which calls no function of its heap's vtable in a pause, is not stopped by then: it would find the tails of
    /// buffers without fillers.
    pub fn check(self, feature: Feature, full: &str) -> Result<(), Error> {
        const TOLD_TO_THE_END: Since<bool> = Since(&[(11, true), (26, false)]);
        match self {
            Collector::Shenandoah | Collector::GenerationalShenandoah
                if TOLD_TO_THE_END.in_version(feature) != Some(true) =>
            {
                Err(Error::CollectorOf { collector: self.name(), version: full.to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// The hooks that it needs, or why it is refused.
    pub const fn hooks(self) -> Result<Hooks, Error> {
        match self {
            Collector::Serial | Collector::Parallel | Collector::Epsilon => {
                Ok(Hooks { parsability: true, available: true, trace: false, objects: true })
            }
            Collector::G1 => Ok(Hooks { parsability: true, available: true, trace: true, objects: true }),
            // Objects outside a TLAB are not carved: Shenandoah paces and accounts them in mem_allocate itself.
            Collector::Shenandoah | Collector::GenerationalShenandoah => {
                Ok(Hooks { parsability: false, available: false, trace: false, objects: false })
            }
            Collector::Z => Err(Error::Zgc),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_begins_at_its_own_size() {
        let lock = Collector::G1.lock(Some(1 << 20));
        let base = 0x7000_0000;
        assert!(lock.taken_for(base + (3 << 20), base) && lock.taken_for(base, base));
        assert!(!lock.taken_for(base + 4096, base) && !lock.taken_for(0, base));
        assert_eq!(Collector::G1.lock(Some(0)), Lock::Unknown);
        assert!(Collector::Shenandoah.lock(None).taken_for(0, base));
        assert!(!Collector::Serial.lock(None).taken_for(base, base));
    }
}
