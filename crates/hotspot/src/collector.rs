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
    /// ZGC: only observed. Of JDK 21 to 23 the generational one.
    Z,
    /// ZGC without generations of JDK 21 to 23, which has a heap class of its own beside the generational one's: only observed.
    SingleGenerationZ,
}

/// A flag, and the value that it must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagIs {
    /// Of text.
    Text(&'static str, &'static str),
    /// On or off.
    Boolean(&'static str, bool),
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
    /// `unsafe_max_tlab_alloc` tells what is left of the region that is being allocated from, however many more there are.
    pub regions: bool,
    /// `trace_heap`: G1's young pauses call neither `ensure_parsability` nor, after VMDeath, the event.
    pub trace: bool,
    /// `mem_allocate`: single objects may be carved from a buffer.
    pub objects: bool,
    /// `doit` of the VM operations whose classes' names begin so: where nothing else tells of every pause. Shenandoah calls no function of
    /// its heap's vtable in one, and since JDK 26 no event tells of those behind VMDeath, by which its threads are not yet stopped.
    pub pauses: Option<&'static str>,
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
    pub const ALL: [Collector; 8] = [
        Collector::Serial,
        Collector::Parallel,
        Collector::G1,
        Collector::GenerationalShenandoah,
        Collector::Shenandoah,
        Collector::Epsilon,
        Collector::SingleGenerationZ,
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
            Collector::SingleGenerationZ => "single-generation ZGC",
        }
    }

    /// The flag that chooses it. Generational Shenandoah and single-generation ZGC have one more, see [`Collector::mode`].
    pub const fn flag(self) -> &'static str {
        match self {
            Collector::Serial => "UseSerialGC",
            Collector::Parallel => "UseParallelGC",
            Collector::G1 => "UseG1GC",
            Collector::Shenandoah | Collector::GenerationalShenandoah => "UseShenandoahGC",
            Collector::Epsilon => "UseEpsilonGC",
            Collector::Z | Collector::SingleGenerationZ => "UseZGC",
        }
    }

    /// What must hold besides [`Collector::flag`].
    pub const fn mode(self) -> Option<FlagIs> {
        match self {
            Collector::GenerationalShenandoah => Some(FlagIs::Text("ShenandoahGCMode", "generational")),
            // JDKs before and after have no such flag, and one ZGC.
            Collector::SingleGenerationZ => Some(FlagIs::Boolean("ZGenerational", false)),
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
            Collector::SingleGenerationZ => "_ZTV14XCollectedHeap",
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

    /// Why it is observed, but gets no buffers, if that is so. ZGC's TLABs come from small pages, of which each CPU has one where the heap is
    /// large enough for that (`ZHeuristics::use_per_cpu_shared_small_pages`): it is the level that a core buffer would be.
    pub const fn buffers(self) -> Result<(), Error> {
        match self {
            Collector::Z | Collector::SingleGenerationZ => Err(Error::Zgc),
            _ => Ok(()),
        }
    }

    /// What is to be known of an observer where there can be nothing else.
    pub const fn only_observed(self) -> Option<&'static str> {
        match self {
            Collector::Z | Collector::SingleGenerationZ => Some(
                "ZGC is observed only: it already allocates from per-CPU pages, so terrace only counts and changes nothing; for buffers \
                 choose another collector (-XX:+UseG1GC, -XX:+UseParallelGC, -XX:+UseSerialGC)",
            ),
            _ => None,
        }
    }

    /// The hooks that it needs in a version.
    pub fn hooks(self, feature: Feature) -> Hooks {
        const UNTOLD: Since<Option<&str>> = Since(&[(11, None), (26, Some("VM_Shenandoah"))]);
        match self {
            Collector::Serial | Collector::Parallel | Collector::Epsilon => {
                Hooks { parsability: true, available: true, objects: true, ..NONE }
            }
            Collector::G1 => Hooks {
                parsability: true,
                available: true,
                regions: true,
                trace: true,
                objects: true,
                ..NONE
            },
            // Objects outside a TLAB are not carved, Shenandoah paces and accounts them in mem_allocate itself.
            Collector::Shenandoah | Collector::GenerationalShenandoah => {
                Hooks { pauses: UNTOLD.in_version(feature).flatten(), ..NONE }
            }
            // Nothing is served, and the heap is walked by marks, so that nobody calls ensure_parsability.
            Collector::Z | Collector::SingleGenerationZ => NONE,
        }
    }
}

const NONE: Hooks = Hooks {
    parsability: false,
    available: false,
    regions: false,
    trace: false,
    objects: false,
    pauses: None,
};

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
