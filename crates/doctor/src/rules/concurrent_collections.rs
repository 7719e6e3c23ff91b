//! A collector that works while the program runs takes much of the CPU time.

use super::other_memory::{COMPILED_CODE, METADATA, for_compiled_code, for_metadata};
use super::{full_collections, young_generation};
use crate::evidence::Evidence;
use crate::finding::{Advice, Effect, Found, Remedy, Rule};
use crate::need::Need;
use present::numbers::share;

/// Of the process's CPU time.
const LEAST_SHARE: f64 = 0.1;
/// Remark and cleanup of G1's.
const PAUSES_OF_CYCLE: u64 = 2;
const PERIODIC: [&str; 1] = ["G1 Periodic Collection"];
/// Of what CPUs have: a collector that works now and then in a program that does nothing harms nobody.
const LEAST_OF_CPUS: f64 = 0.03;

pub const RULE: Rule = Rule {
    name: "concurrent collections",
    source: "HotSpot Virtual Machine Garbage Collection Tuning Guide: setting the heap size of ZGC; periodic and concurrent cycles of G1",
    needs,
    examine,
};

fn needs(evidence: &Evidence) -> &'static [Need] {
    match evidence.jvm.collector.as_str() {
        "G1" | "Z" | "Shenandoah" => &[Need::CpuTime],
        _ => &[],
    }
}

fn examine(evidence: &Evidence) -> Option<Found> {
    let (concurrent, all) = (evidence.concurrent_cpu?, evidence.process_cpu?);
    let of_cpus = concurrent / evidence.usable_seconds();
    if concurrent < LEAST_SHARE * all || of_cpus < LEAST_OF_CPUS {
        return None;
    }
    // Their advice is a larger heap, too.
    if [young_generation::RULE, full_collections::RULE].iter().any(|rule| (rule.examine)(evidence).is_some())
    {
        return None;
    }
    let (cause, advice) = by_cause(evidence);
    Some(Found {
        evidence: format!(
            "the collector uses {} of the process's CPU time while the program runs{cause}.",
            share(concurrent / all)
        ),
        advice: vec![advice],
    })
}

/// What begins cycles. Only G1 says it: the pause with which one begins has its cause. So has a full collection, which begins none.
fn by_cause(evidence: &Evidence) -> (&'static str, Advice) {
    let (causes, full) = (&evidence.eden.causes, &evidence.eden.full_causes);
    let begins_half = |named: &[&str]| {
        let begun: u64 = named.iter().map(|cause| causes.of(cause).saturating_sub(full.of(cause))).sum();
        begun > 0 && begun * 2 * PAUSES_OF_CYCLE >= causes.concurrent()
    };
    if begins_half(&full_collections::BY_PROGRAM) {
        ("; most cycles begin on request (System.gc())", full_collections::fewer_requests())
    } else if begins_half(&METADATA) {
        ("; most cycles begin for class metadata", for_metadata(evidence, full))
    } else if begins_half(&COMPILED_CODE) {
        ("; most cycles begin for compiled code", for_compiled_code())
    } else if begins_half(&PERIODIC) {
        ("; most cycles begin after a time (-XX:G1PeriodicGCInterval)", less_often())
    } else {
        ("", larger_heap(evidence))
    }
}

fn less_often() -> Advice {
    Advice {
        remedy: Remedy::Program("a longer -XX:G1PeriodicGCInterval".into()),
        effect: Effect::default(),
        note: "cycles then begin when the heap fills; an idle program gives memory back later",
    }
}

/// By how much cycles become rarer is not said: a collector begins them before the heap is full, by rules of its own. ZGC's came 0.78 times as often in a
/// heap twice as large (workload alloc, 128 MB).
fn larger_heap(evidence: &Evidence) -> Advice {
    let flags = &evidence.jvm.flags;
    // The collector keeps to this size, whatever the largest one is.
    let soft = flags.number("SoftMaxHeapSize").zip(flags.number("MaxHeapSize"));
    let is_softly_limited = soft.is_some_and(|(soft, most)| soft < most);
    let larger = full_collections::larger_heap(evidence).filter(|_| !is_softly_limited);
    if let Some(advice) = full_collections::past_large_references(evidence).filter(|_| !is_softly_limited) {
        return advice;
    }
    Advice {
        remedy: match larger {
            Some(larger) => Remedy::flag(format!("-Xmx{}m", larger >> 20)),
            None => Remedy::Program(format!(
                "a larger {}, as memory permits, or fewer objects allocated",
                if is_softly_limited { "-XX:SoftMaxHeapSize" } else { "heap (-Xmx)" }
            )),
        },
        effect: Effect::default(),
        note: match evidence.jvm.collector.as_str() {
            // HotSpot's counters name no cause of theirs.
            "Z" | "Shenandoah" => {
                "cycles come more rarely where more is free, unless System.gc() begins them; faster only where CPUs are busy"
            }
            _ => "cycles come more rarely where more is free; faster only where CPUs are busy",
        },
    }
}

#[cfg(test)]
mod tests {
    use crate::finding::Finding;
    use crate::rules::examine;
    use crate::rules::sick::{SECONDS, ergonomic, healthy};

    /// Two CPUs, of which the process uses so many and its collector so much of that.
    fn found(collector: &str, cpus: f64, concurrent: f64) -> Vec<Finding> {
        with_flags(collector, cpus, concurrent, "MaxHeapSize=1073741824")
    }

    fn with_flags(collector: &str, cpus: f64, concurrent: f64, flags: &str) -> Vec<Finding> {
        let mut evidence = healthy();
        evidence.jvm.collector = collector.into();
        evidence.jvm.flags = ergonomic(flags);
        evidence.memory.resident = Some(1 << 29);
        evidence.process_cpu = Some(cpus * SECONDS);
        evidence.collector_cpu = Some(concurrent * cpus * SECONDS);
        evidence.concurrent_cpu = evidence.collector_cpu;
        examine(&evidence)
    }

    #[test]
    fn a_larger_heap_has_fewer_cycles() {
        for collector in ["Z", "Shenandoah", "G1"] {
            let found = found(collector, 2.0, 0.2);
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].rule, "concurrent collections");
            let advice = &found[0].advice[0];
            assert_eq!(advice.remedy.text(), "-Xmx2048m");
        }
    }

    #[test]
    fn cycles_that_something_asks_for_come_in_a_larger_heap_too() {
        let advised = |cause: &str, cycles: u64| {
            let mut evidence = healthy();
            evidence.jvm.collector = "G1".into();
            evidence.jvm.flags = ergonomic("MaxHeapSize=1073741824");
            evidence.memory.resident = Some(1 << 29);
            (evidence.process_cpu, evidence.concurrent_cpu) = (Some(2.0 * SECONDS), Some(0.4 * SECONDS));
            evidence.collector_cpu = evidence.concurrent_cpu;
            evidence.eden.causes.add("concurrent cycle", 2 * 20);
            evidence.eden.causes.add("G1 Evacuation Pause", 10);
            evidence.eden.causes.add(cause, cycles);
            examine(&evidence)[0].advice[0].remedy.text()
        };
        assert_eq!(advised("System.gc()", 20), "call System.gc() less often");
        assert!(advised("Metadata GC Threshold", 11).contains("MetaspaceSize"));
        assert!(advised("G1 Periodic Collection", 20).contains("G1PeriodicGCInterval"));
        assert_eq!(advised("System.gc()", 9), "-Xmx2048m", "most begin because the heap fills");
        assert_eq!(advised("GCLocker Initiated GC", 20), "-Xmx2048m");
    }

    /// They stop all threads until they are done, and begin no cycle.
    #[test]
    fn full_collections_on_request_begin_no_cycles() {
        let advised = |full: u64| {
            let mut evidence = healthy();
            evidence.jvm.collector = "G1".into();
            evidence.jvm.flags = ergonomic("MaxHeapSize=1073741824");
            evidence.memory.resident = Some(1 << 29);
            (evidence.process_cpu, evidence.concurrent_cpu) = (Some(2.0 * SECONDS), Some(0.4 * SECONDS));
            evidence.eden.causes.add("concurrent cycle", 2 * 20);
            evidence.eden.causes.add("System.gc()", 20);
            evidence.eden.full_causes.add("System.gc()", full);
            examine(&evidence)[0].advice[0].remedy.text()
        };
        assert_eq!(advised(0), "call System.gc() less often");
        assert_eq!(advised(20), "-Xmx2048m");
    }

    #[test]
    fn a_soft_limit_is_what_keeps_the_heap_small() {
        let found = with_flags("Z", 2.0, 0.2, "MaxHeapSize=1073741824 SoftMaxHeapSize=536870912");
        let advice = &found[0].advice[0];
        assert!(advice.remedy.text().starts_with("a larger -XX:SoftMaxHeapSize"), "{advice:?}");
    }

    #[test]
    fn a_collector_that_is_in_nobodys_way_is_no_trouble() {
        assert_eq!(found("Z", 2.0, 0.05), [], "little");
        assert_eq!(found("Z", 0.1, 0.5), [], "the CPUs are idle");
    }
}
