//! What a JVM without an agent allocates, as far as its collections tell: each that came because eden was full has freed all of it.

use jvm::collection_cause;
use jvm::perfdata::PerfData;

/// What HotSpot says of its collections at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Eden {
    /// Collections of the young generation so far.
    young: u64,
    /// Collections of the whole heap.
    full: u64,
    capacity: u64,
    /// Whether the last one came because eden was full.
    was_full: bool,
}

impl Eden {
    /// `None` where nothing follows from how many there are: what a concurrent collector counts are phases, which leave eden as it is.
    pub(crate) fn of(perf: &PerfData) -> Option<Eden> {
        if perf.counts_phases() {
            return None;
        }
        let counted = |number: u32| perf.get(&format!("sun.gc.collector.{number}.invocations"));
        Some(Eden {
            young: counted(0)?,
            full: counted(1).unwrap_or(0),
            capacity: perf.get("sun.gc.generation.0.space.0.capacity")?,
            was_full: collection_cause::of(perf).is_some_and(collection_cause::is_full_eden),
        })
    }

    /// Bytes that were allocated since. `None` where the collections do not tell: HotSpot says only the last one's cause, and one for a humongous object, or
    /// that somebody asked for, leaves open how much of eden there was. Neither does one of the whole heap tell, unless it follows one of a full eden.
    /// The pauses of G1's concurrent cycle are neither, and free nothing there.
    pub(crate) fn allocated_since(&self, before: &Eden) -> Option<u64> {
        let young = self.young.saturating_sub(before.young);
        let full = self.full.saturating_sub(before.full);
        let is_known = (young == 0 || self.was_full) && full <= young;
        is_known.then(|| young.saturating_mul(self.capacity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_collections_of_a_full_eden_tell_what_was_allocated() {
        let at = |young, full, was_full| Eden { young, full, capacity: 1000, was_full };
        let since = |now: Eden| now.allocated_since(&at(10, 2, true));
        assert_eq!(since(at(13, 2, true)), Some(3000));
        assert_eq!(since(at(10, 2, true)), Some(0), "none came");
        assert_eq!(since(at(10, 2, false)), Some(0), "the last one is long over");
        assert_eq!(since(at(13, 2, false)), None, "the last one was for a humongous object");
        assert_eq!(since(at(13, 4, true)), Some(3000), "Parallel's full ones follow");
        assert_eq!(since(at(10, 3, true)), None, "how much of eden was used is not known");
    }
}
