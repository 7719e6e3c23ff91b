use super::*;
use crate::counters_test::{counted, counters};
use crate::rules::sick::healthy;

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
    evidence.eden = eden(&at([5, 1, 0]), &at([15, 3, 7]));
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
        let eden = eden(&at(50, 100, 10, [100, 5, 50]), &at(50, 100 + all, 10 + reaching, counts));
        (eden.stopped, eden.collecting)
    };
    let near =
        |found: Option<f64>, expected: f64| assert!((found.unwrap() - expected).abs() < 1e-9, "{found:?}");
    // Ten collections of 3 ms among fifty safepoints; a fifth of the time on the way to them is theirs.
    let (stopped, collecting) = between(480, 50, [130, 15, 100]);
    near(stopped, 0.53);
    near(collecting, 0.04);
    // Nothing else stopped threads.
    near(between(31, 1, [130, 15, 60]).1, 0.031);
    near(between(20, 1, [130, 15, 60]).1, 0.021);
    assert_eq!(eden(&counted(None), &counted(None)).collecting, None);
}
