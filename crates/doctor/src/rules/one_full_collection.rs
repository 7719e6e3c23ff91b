//! A single full collection while a JVM was watched says how long one takes, not how often they come.

use super::sick::{SECONDS, healthy};
use super::*;
use crate::evidence::{Pauses, SinceStart};

/// Of 1.2 s, in a JVM of such an age with so many before it, all alike.
fn with_one(age: f64, before: u64, cause: &str) -> Evidence {
    let mut evidence = healthy();
    let pause = 1.2;
    evidence.eden.pauses =
        Some(Pauses { young: 0.05, young_count: 5, full: pause, full_count: 1, concurrent: 0.0 });
    (evidence.eden.collecting, evidence.eden.stopped) = (Some(pause + 0.05), Some(pause + 0.05));
    evidence.eden.full_causes.add(cause, 1);
    let full_count = before + 1;
    evidence.eden.since_start =
        Some(SinceStart { seconds: age, full: pause * full_count as f64, full_count });
    evidence
}

fn found(age: f64, before: u64, cause: &str) -> Vec<(String, String)> {
    let shown = |found: Finding| (found.evidence, found.advice[0].remedy.text());
    examine(&with_one(age, before, cause)).into_iter().map(shown).collect()
}

#[test]
fn one_in_an_hour_is_no_rate() {
    assert_eq!(found(3600.0, 0, "Ergonomics"), []);
    let said = crate::nothing::nothing(&with_one(3600.0, 0, "Ergonomics"));
    assert!(said.contains("one full collection of 1.20 s") && said.contains("watch it longer"), "{said}");
    let mut unknown = with_one(3600.0, 0, "Ergonomics");
    unknown.eden.since_start = None;
    assert_eq!(examine(&unknown), []);
}

#[test]
fn one_of_many_since_the_start_is_found() {
    let text = "one full collection of 1.20 s; since the JVM's start 100 have stopped all threads for 3.33 % of the time.";
    assert_eq!(found(3600.0, 99, "Ergonomics"), [(text.to_owned(), "-Xmx8192m".to_owned())]);
    let young = &found(15.0, 0, "System.gc()")[0];
    assert_eq!(
        young.0,
        "one full collection of 1.20 s, on request (System.gc()), has stopped all threads for 8 % of the time since the JVM's start."
    );
    assert_eq!(young.1, "call System.gc() less often");
}

/// Somebody looked at the heap while it was watched.
#[test]
fn one_look_at_the_heap_is_no_habit() {
    for (age, before) in [(15.0, 0), (3600.0, 99)] {
        assert_eq!(found(age, before, "Heap Inspection Initiated GC"), []);
    }
}

#[test]
fn one_full_collection_is_enough_if_it_is_long() {
    let found = |count: u64, seconds: f64| {
        let mut evidence = healthy();
        evidence.eden.since_start =
            Some(SinceStart { seconds: 2.0 * SECONDS, full: seconds, full_count: count });
        evidence.eden.pauses =
            Some(Pauses { young: 0.05, young_count: 5, full: seconds, full_count: count, concurrent: 0.0 });
        examine(&evidence).iter().any(|found| found.rule == "full collections")
    };
    assert!(found(1, 8.0) && found(2, 0.5));
    assert!(!found(1, 0.9) && !found(0, 8.0) && !found(2, 0.2));
}
