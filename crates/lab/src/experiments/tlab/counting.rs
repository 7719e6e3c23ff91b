//! The processor's counters: which of the source's there are on this machine, by what name.

use experiment::Sample;
use experiment::jmh::Read;
use experiment::machine::counters::{self, Availability};

/// A metric that counters give.
pub(super) struct Counted {
    pub(super) key: &'static str,
    /// The event on processors of different ages, the source's first. One is taken.
    events: &'static [&'static str],
}

/// Loads from the first-level cache and those that missed it: together the hit rate, which is what is declared.
const LOADS: Counted = Counted { key: "l1_hits", events: &["L1-dcache-loads"] };
const MISSES: &str = "L1-dcache-load-misses";
const TAKEN: &str = "l1_misses";

/// Events for each operation. All but the first two are Intel's; other processors count nothing that is the same.
pub(super) const METRICS: [Counted; 8] = [
    Counted { key: "cycles", events: &["cycles"] },
    Counted { key: "instructions", events: &["instructions"] },
    Counted { key: "store_stalls", events: &["resource_stalls.sb"] },
    Counted {
        key: "idle_cycles",
        events: &["cycle_activity.cycles_no_execute", "cycle_activity.stalls_total"],
    },
    Counted {
        key: "memory_stalls",
        events: &["cycle_activity.stalls_ldm_pending", "cycle_activity.stalls_mem_any"],
    },
    Counted { key: "lock_loads", events: &["mem_uops_retired.lock_loads", "mem_inst_retired.lock_loads"] },
    Counted {
        key: "hitm",
        events: &[
            "mem_load_uops_l3_hit_retired.xsnp_hitm",
            "mem_load_l3_hit_retired.xsnp_hitm",
            "mem_load_l3_hit_retired.xsnp_fwd",
        ],
    },
    LOADS,
];

/// What can be counted here, and why the rest cannot.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Counting {
    /// Metric and event.
    found: Vec<(&'static str, &'static str)>,
    /// Metric and reason.
    missing: Vec<(&'static str, String)>,
}

impl Counting {
    pub(super) fn here() -> Counting {
        match counters::perf() {
            Availability::Available => Counting::by(counters::event),
            Availability::Unavailable(reason) => Counting {
                missing: METRICS.iter().map(|metric| (metric.key, reason.clone())).collect(),
                ..Counting::default()
            },
        }
    }

    fn by(event: impl Fn(&str) -> Availability) -> Counting {
        let mut counting = Counting::default();
        for metric in METRICS {
            let found = metric.events.iter().find(|name| event(name) == Availability::Available);
            let misses = if metric.key == LOADS.key { event(MISSES) } else { Availability::Available };
            match (found, misses) {
                (Some(name), Availability::Available) => counting.found.push((metric.key, name)),
                (_, Availability::Unavailable(reason)) => counting.missing.push((metric.key, reason)),
                (None, Availability::Available) => {
                    let names = metric.events.join(" or ");
                    let reason = format!("this processor does not count {names}");
                    counting.missing.push((metric.key, reason));
                }
            }
        }
        counting
    }

    pub(super) fn events(&self) -> Vec<String> {
        let misses = self.found.iter().any(|(metric, _)| *metric == LOADS.key).then_some(MISSES);
        self.found.iter().map(|(_, event)| *event).chain(misses).map(str::to_owned).collect()
    }

    pub(super) fn reads(&self) -> Vec<Read> {
        let misses = self.found.iter().any(|(metric, _)| *metric == LOADS.key).then_some((TAKEN, MISSES));
        let reads = self.found.iter().copied().chain(misses);
        reads.map(|(metric, event)| Read::times(event, metric, 1.0)).collect()
    }

    /// What was read as the metrics that are declared: shares for counts, and a reason for what is missing.
    pub(super) fn finish(&self, mut sample: Sample) -> Sample {
        let mut taken =
            |metric: &str| sample.values.remove(metric).and_then(|values| values.first().copied());
        let (loads, misses, stalls) = (taken(LOADS.key), taken(TAKEN), taken("memory_stalls"));
        let cycles = sample.values.get("cycles").and_then(|values| values.first().copied());
        sample.unavailable.remove(TAKEN);
        let shares = [
            (LOADS.key, misses.zip(loads).map(|(misses, loads)| 1.0 - misses / loads)),
            ("memory_stalls", stalls.zip(cycles).map(|(stalls, cycles)| stalls / cycles)),
        ];
        for (metric, share) in shares {
            match share.filter(|share| share.is_finite()) {
                Some(share) => sample.add(metric, 100.0 * share),
                None => {
                    let reason = "one of its two counts is missing".to_owned();
                    sample.unavailable.entry(metric.to_owned()).or_insert(reason);
                }
            }
        }
        for (metric, reason) in &self.missing {
            sample.unavailable.insert((*metric).to_owned(), reason.clone());
        }
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(names: &'static [&'static str]) -> Counting {
        Counting::by(|name| {
            if names.contains(&name) {
                Availability::Available
            } else {
                Availability::Unavailable(format!("no {name}"))
            }
        })
    }

    #[test]
    fn the_newer_name_is_taken_where_the_sources_is_unknown() {
        let counting = only(&["cycles", "mem_inst_retired.lock_loads"]);
        assert_eq!(counting.events(), ["cycles", "mem_inst_retired.lock_loads"]);
        assert_eq!(counting.reads()[1], Read::times("mem_inst_retired.lock_loads", "lock_loads", 1.0));
        let sample = counting.finish(Sample::default().value("cycles", 3.0));
        assert!(sample.unavailable["hitm"].contains("mem_load_uops_l3_hit_retired.xsnp_hitm"));
        assert!(sample.unavailable["l1_hits"].contains("L1-dcache-load-misses"));
        assert_eq!(sample.values.keys().collect::<Vec<_>>(), ["cycles"]);
    }

    #[test]
    fn shares_come_from_two_counts() {
        let counting = only(&["cycles", "cycle_activity.stalls_ldm_pending", "L1-dcache-loads", MISSES]);
        assert_eq!(counting.events().len(), 4);
        let sample = Sample::default().value("cycles", 200.0).value("memory_stalls", 50.0);
        let sample = counting.finish(sample.value("l1_hits", 10.0).value(TAKEN, 1.0));
        assert_eq!((sample.values["memory_stalls"][0], sample.values["l1_hits"][0]), (25.0, 90.0));
        assert!(!sample.values.contains_key(TAKEN) && !sample.unavailable.contains_key("l1_hits"));
    }
}
