//! Why collections came, as HotSpot says it, and how many would come in another eden.

use jvm::collection_cause::{self, ERGONOMICS, FULL_EDEN};
use jvm::perfdata::PerfData;
use serde::Serialize;
use std::collections::BTreeMap;

/// For the pauses of G1's concurrent cycle, which have no cause of their own.
const CONCURRENT: &str = "concurrent cycle";
const OF_EDEN: &str = "Allocation Failure";
/// Remark and Cleanup.
const PAUSES_OF_A_CYCLE: f64 = 2.0;
/// After these eden is as full as it was before, or was empty already.
const FOLLOWING: [&str; 2] = [CONCURRENT, ERGONOMICS];

/// How many collections came for each cause. Empty where nobody said.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Causes(BTreeMap<String, u64>);

impl Causes {
    pub fn add(&mut self, cause: &str, count: u64) {
        if count > 0 {
            *self.0.entry(cause.to_owned()).or_default() += count;
        }
    }

    pub fn all(&self) -> u64 {
        self.0.values().sum()
    }

    pub fn of(&self, cause: &str) -> u64 {
        self.0.get(cause).copied().unwrap_or(0)
    }

    /// That came because eden was full.
    pub fn full_eden(&self) -> u64 {
        FULL_EDEN.iter().map(|cause| self.of(cause)).sum()
    }

    /// Pauses of a concurrent cycle.
    pub fn concurrent(&self) -> u64 {
        self.of(CONCURRENT)
    }

    /// That left eden as it was.
    pub fn following(&self) -> u64 {
        FOLLOWING.iter().map(|cause| self.of(cause)).sum()
    }

    /// The most frequent cause but for a full eden, and how many came for it.
    pub fn other(&self) -> Option<(&str, u64)> {
        let others = self.0.iter().filter(|(cause, _)| !FULL_EDEN.contains(&cause.as_str()));
        others.max_by_key(|(_, count)| **count).map(|(cause, count)| (cause.as_str(), *count))
    }
}

/// Collections a second, by what brings them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// A full eden.
    pub full: f64,
    /// Anything else that empties eden, at times that have nothing to do with how full it is.
    pub others: f64,
    /// What leaves eden as it was.
    pub following: f64,
}

impl Rates {
    pub fn all(self) -> f64 {
        self.full + self.others + self.following
    }

    /// Seconds in which eden fills, where no other collection empties it first. Infinite where one always does.
    ///
    /// Others come as a Poisson process: eden fills undisturbed with the probability `exp(-others * fill)`.
    pub fn fill(self) -> f64 {
        if self.others > 0.0 { (self.others / self.full).ln_1p() / self.others } else { 1.0 / self.full }
    }

    /// In an eden that takes so many seconds to fill, with so many others.
    pub fn in_eden(fill: f64, others: f64) -> Rates {
        let others = others.max(0.0);
        let full = if others > 0.0 { others / (others * fill).exp_m1() } else { 1.0 / fill };
        Rates { full, others, following: 0.0 }
    }

    /// In an eden `factor` times as large.
    ///
    /// What leaves eden as it was is brought by the old generation, which fills by what these collections copy there, no more each time than now. But where
    /// others come, they may themselves begin the cycles (humongous objects, metadata), of which each has two pauses.
    pub fn with_larger_eden(self, factor: f64) -> Rates {
        let larger = Rates::in_eden(factor * self.fill(), self.others);
        let theirs = self.following.min(PAUSES_OF_A_CYCLE * self.others);
        let fewer = if self.full > 0.0 { larger.full / self.full } else { 1.0 };
        Rates { following: theirs + (self.following - theirs) * fewer, ..larger }
    }
}

/// Counts them, by looks at HotSpot's counters.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    seen: Option<[u64; 4]>,
    pub(crate) found: Causes,
    /// Of these the collections of the whole heap.
    pub(crate) full: Causes,
}

impl Counting {
    pub(crate) fn add(&mut self, perf: &PerfData) {
        if perf.counts_phases() {
            return;
        }
        let now = perf.collections_of_each();
        let Some(before) = self.seen.replace(now) else { return };
        let [young, full, concurrent, _] =
            std::array::from_fn(|number| now[number].saturating_sub(before[number]));
        self.attribute([young, full, concurrent], collection_cause::of(perf));
    }

    /// Young and full collections since the look before, and pauses of a concurrent cycle, when HotSpot says this cause. What it says no cause of is
    /// not counted.
    fn attribute(&mut self, [young, full, concurrent]: [u64; 3], cause: Option<&str>) {
        if let Some(cause) = cause {
            self.found.add(if cause == ERGONOMICS { OF_EDEN } else { cause }, young);
            self.found.add(cause, full);
            self.full.add(cause, full);
        }
        self.found.add(CONCURRENT, concurrent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_collections_are_told_from_those_of_a_full_eden() {
        let mut causes = Causes::default();
        assert_eq!((causes.all(), causes.other()), (0, None));
        for (cause, count) in [
            ("G1 Evacuation Pause", 30),
            ("G1 Humongous Allocation", 9),
            ("System.gc()", 1),
            ("Heap Dump", 0),
        ] {
            causes.add(cause, count);
        }
        assert_eq!((causes.all(), causes.full_eden()), (40, 30));
        assert_eq!(causes.other(), Some(("G1 Humongous Allocation", 9)));
    }

    /// Parallel's full collection says its own cause while it lasts, and that of the young one before it afterwards.
    #[test]
    fn a_full_collection_that_follows_at_once_leaves_the_young_one_its_cause() {
        let mut counting = Counting::default();
        counting.attribute([1, 1, 0], Some("Ergonomics"));
        let causes = &counting.found;
        assert_eq!((causes.full_eden(), causes.following(), causes.all()), (1, 1, 2));
        counting.attribute([3, 0, 2], Some("G1 Humongous Allocation"));
        let causes = &counting.found;
        assert_eq!((causes.of("G1 Humongous Allocation"), causes.concurrent()), (3, 2));
        counting.attribute([5, 1, 0], None);
        assert_eq!(counting.found.all(), 7, "nobody said why");
        assert_eq!((counting.full.of("Ergonomics"), counting.full.all()), (1, 1));
    }

    #[test]
    fn a_larger_eden_saves_what_a_full_one_brings_and_no_others() {
        let near =
            |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        let alone = Rates { full: 4.0, others: 0.0, following: 0.0 };
        near(alone.fill(), 0.25);
        near(alone.with_larger_eden(4.0).all(), 1.0);
        // The same eden gives what there is now.
        let disturbed = Rates { full: 2.0, others: 3.0, following: 0.0 };
        near(disturbed.with_larger_eden(1.0).all(), 5.0);
        near(Rates::in_eden(disturbed.fill(), 0.0).all(), 1.0 / disturbed.fill());
        let larger = disturbed.with_larger_eden(4.0);
        assert!(larger.others == 3.0 && larger.full < 0.1, "others empty it first: {larger:?}");
        assert!(Rates { full: 0.0, ..disturbed }.fill().is_infinite());
        let followed = Rates { following: 2.0, ..alone };
        near(followed.fill(), 0.25);
        near(followed.with_larger_eden(4.0).all(), 1.5);
        near(Rates { others: 1.0, ..followed }.with_larger_eden(4.0).following, 2.0);
        let both = Rates { full: 4.0, others: 0.5, following: 3.0 }.with_larger_eden(4.0);
        near(both.following, 1.0 + 2.0 * both.full / 4.0);
        near(Rates { full: 0.0, ..followed }.with_larger_eden(4.0).following, 2.0);
    }

    #[test]
    fn eden_as_a_simulation_has_it() {
        // Others as they come, eden full after a quarter of a second: a generator of Lehmer's, so that it is the same each time.
        let (fill, others, seconds) = (0.25, 3.0, 20_000.0);
        let mut state = 1u64;
        let mut uniform = || {
            state = state * 48_271 % 0x7fff_ffff;
            state as f64 / f64::from(0x7fff_ffff)
        };
        let (mut now, mut since, mut full) = (0.0, 0.0, 0u64);
        let mut next = -uniform().ln() / others;
        while now < seconds {
            if since + fill <= next {
                full += 1;
                now = since + fill;
            } else {
                now = next;
                next = now - uniform().ln() / others;
            }
            since = now;
        }
        let expected = Rates::in_eden(fill, others).full;
        assert!((full as f64 / seconds / expected - 1.0).abs() < 0.02, "{full} {expected}");
    }
}
