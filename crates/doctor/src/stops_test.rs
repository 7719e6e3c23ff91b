use super::*;
use crate::counters_test::{counted, counters};
use crate::evidence::Evidence;
use crate::rules::sick::healthy;

fn near(found: Option<f64>, expected: f64) {
    assert!((found.unwrap() - expected).abs() < 1e-9, "{found:?} instead of {expected}");
}

/// Ten young collections of 20 ms, and two of the whole heap that somebody asked for, of a second each.
#[test]
fn a_full_collections_pause_does_not_make_eden_small() {
    let at = |[young, full, times]: [i64; 3]| {
        counted(Some(counters(&[
            ("sun.os.hrt.frequency", 1000),
            ("sun.rt.safepointTime", 20 * young + 1000 * full),
            ("sun.gc.generation.0.space.0.capacity", 1_000_000_000),
            ("sun.gc.collector.0.time", 20 * young),
            ("sun.gc.collector.0.invocations", young),
            ("sun.gc.collector.1.time", 1000 * full),
            ("sun.gc.collector.1.invocations", full),
            ("sun.gc.collector.2.time", times),
        ])))
    };
    let mut evidence = healthy();
    evidence.jvm.collector = "G1".into();
    evidence.eden = eden(&at([5, 1, 0]), &at([15, 3, 7]), 0.0);
    evidence.eden.causes.add("G1 Evacuation Pause", 10);
    evidence.eden.causes.add("System.gc()", 2);
    let pauses = evidence.eden.pauses.unwrap();
    assert!((pauses.young - 0.2).abs() < 1e-9 && (pauses.full - 2.0).abs() < 1e-9, "{pauses:?}");
    assert_eq!(pauses.young_count, 10);
    assert!((evidence.full_eden_share().unwrap() - 0.02).abs() < 1e-9, "{:?}", evidence.eden);
    let found: Vec<&str> = crate::rules::examine(&evidence).iter().map(|found| found.rule).collect();
    assert_eq!(found, ["full collections"]);
    // With all pauses alike it was 18 % of the time.
    evidence.eden.pauses = None;
    assert!((evidence.full_eden_share().unwrap() - 0.22 / 1.2).abs() < 1e-9);
}

#[test]
fn only_collections_and_the_way_to_them_are_collections_time() {
    // In milliseconds, as the counters' ticks.
    let at = |time: i64, all: i64, reaching: i64, [pauses, collections, safepoints]: [i64; 3]| {
        counted(Some(counters(&[
            ("sun.os.hrt.frequency", 1000),
            ("sun.rt.safepointTime", all),
            ("sun.rt.safepointSyncTime", reaching),
            ("sun.rt.safepoints", safepoints),
            ("sun.gc.collector.0.time", pauses),
            ("sun.gc.collector.0.invocations", collections),
            ("sun.gc.collector.1.time", time),
            ("sun.gc.collector.1.invocations", 7),
        ])))
    };
    let between = |all: i64, reaching: i64, counts| {
        let eden = eden(&at(50, 100, 10, [100, 5, 50]), &at(50, 100 + all, 10 + reaching, counts), 0.0);
        (eden.stopped, eden.collecting)
    };
    // Ten collections of 3 ms among fifty safepoints; a fifth of the time on the way to them is theirs.
    let (stopped, collecting) = between(480, 50, [130, 15, 100]);
    near(stopped, 0.53);
    near(collecting, 0.04);
    // Nothing else stopped threads.
    near(between(31, 1, [130, 15, 60]).1, 0.031);
    near(between(20, 1, [130, 15, 60]).1, 0.021);
    assert_eq!(eden(&counted(None), &counted(None), 0.0).collecting, None);
}

/// In milliseconds: the time at safepoints, and that of ten young collections.
fn stopped(all: i64, collecting: i64) -> PerfData {
    counters(&[
        ("sun.os.hrt.frequency", 1000),
        ("sun.rt.safepointTime", all),
        ("sun.gc.collector.0.time", collecting),
        ("sun.gc.collector.0.invocations", 10),
    ])
}

#[test]
fn a_thread_dump_is_what_stops_threads_beside_collections() {
    near(otherwise(&stopped(100, 50), &stopped(175, 50)), 0.075);
    near(otherwise(&stopped(100, 50), &stopped(185, 60)), 0.075);
    near(otherwise(&stopped(100, 50), &stopped(105, 60)), 0.0);
    assert_eq!(otherwise(&counters(&[]), &counters(&[])), None);
}

#[test]
fn a_program_does_not_stop_for_the_doctors_thread_dumps() {
    let between = |all, collecting, dumps| {
        let [first, last] = [stopped(0, 0), stopped(all, collecting)].map(|perf| counted(Some(perf)));
        let mut evidence = healthy();
        evidence.eden = eden(&first, &last, dumps);
        (evidence.eden.collections, evidence.process_cpu) = (Some(0), Some(0.01 * evidence.seconds));
        evidence
    };
    let said = |evidence: &Evidence| crate::nothing::nothing(evidence);
    let idle = between(310, 10, 0.3);
    near(idle.eden.stopped, 0.01);
    near(idle.eden.stopped_by_dumps, 0.3);
    assert!(said(&idle).contains("used only 1 % of a CPU"), "{}", said(&idle));
    let other = between(610, 10, 0.3);
    assert!(said(&other).contains("for other reasons"), "{}", said(&other));
    let only = between(375, 0, 0.375 - 1e-16);
    assert_eq!(only.eden.stopped, Some(0.0), "what rounding leaves is no stop");
    // A collection in the middle of a dump stays one.
    let most = between(100, 90, 0.3);
    assert_eq!((most.eden.stopped, most.eden.collecting), (Some(0.09), Some(0.09)));
}
