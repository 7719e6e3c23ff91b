use super::*;
use lab::fixture;

/// The fixture with all values of a metric multiplied.
fn scaled(experiment: usize, metric: &str, by: f64) -> Results {
    let mut results = fixture::results();
    for cell in &mut results.experiments[experiment].cells {
        if let Some(Quantity::Known { interval, values }) = cell.metrics.get_mut(metric) {
            *interval =
                Interval { median: interval.median * by, low: interval.low * by, high: interval.high * by };
            values.iter_mut().for_each(|value| *value *= by);
        }
    }
    results
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let results = fixture::results();
    let diff = compare(&results, &results);
    assert!(diff.changes.is_empty() && diff.within_drift.is_empty() && diff.warnings.is_empty());
    assert!(diff.only_in_a.is_empty() && diff.only_in_b.is_empty() && diff.unavailable.is_empty());
    assert!(diff.compared > 200);
    assert!(
        text(&diff, 100).contains(&format!("nothing changed significantly ({} compared)", diff.compared))
    );
}

#[test]
fn a_change_beyond_interval_and_drift_is_significant_the_largest_first() {
    let mut b = scaled(0, "ns", 1.5);
    let Some(Quantity::Known { interval, values }) = b.experiments[0].cells[7].metrics.get_mut("ns") else {
        panic!()
    };
    *interval =
        Interval { median: interval.median * 2.0, low: interval.low * 2.0, high: interval.high * 2.0 };
    values.iter_mut().for_each(|value| *value *= 2.0);
    let diff = compare(&fixture::results(), &b);
    assert_eq!(diff.changes.len(), 90);
    assert_eq!(diff.changes[0].parameters, b.experiments[0].cells[7].parameters);
    assert!(
        diff.changes
            .iter()
            .all(|change| change.direction == Direction::Worse && change.experiment == "atomics")
    );
    let ratio = diff.changes[0].ratio.unwrap();
    assert!((2.99..3.01).contains(&ratio.median) && ratio.low > 2.5, "{ratio:?}");
    let text = text(&diff, 200);
    assert!(
        text.contains("90 of ")
            && text.contains("0 better, 90 worse")
            && text.contains("by chance alone about"),
        "{text}"
    );
    let back = compare(&b, &fixture::results());
    assert!(back.changes.iter().all(|change| change.direction == Direction::Better), "less time is better");
}

#[test]
fn overlapping_intervals_are_no_change() {
    let diff = compare(&fixture::results(), &scaled(0, "ns", 1.01));
    assert!(diff.changes.is_empty() && diff.within_drift.is_empty(), "{:?}", diff.changes);
}

#[test]
fn a_change_smaller_than_the_machines_drift_is_put_down_to_it() {
    let mut b = scaled(0, "ns", 1.5);
    b.canaries = vec![fixture::canary("arithmetic", 101.3 * 1.7, 0.0)];
    let diff = compare(&fixture::results(), &b);
    assert!(diff.changes.is_empty(), "the canary moved by 70 %");
    assert_eq!(diff.within_drift.len(), 90);
    assert!((0.65..0.75).contains(&diff.drift.unwrap()), "{:?}", diff.drift);
    let text = text(&diff, 200);
    assert!(text.contains("90 more differ, but by less than the machine's own drift of"), "{text}");
    let first = format!("atomics: {}: time per increment: 1.", diff.within_drift[0].cell);
    assert!(text.contains(&first) && text.contains("and 70 more; --format json has all"), "{text}");
    // On another machine the canary's difference is no drift.
    b.machine.model = "another".into();
    let diff = compare(&fixture::results(), &b);
    assert_eq!(diff.changes.len(), 90);
    assert!(
        diff.warnings.iter().any(|warning| warning.starts_with("the CPUs differ: 2 x Intel")),
        "{:?}",
        diff.warnings
    );
}

/// Both sides of a ratio are as much slower on a slower machine; a count may be of a fixed time.
#[test]
fn a_change_of_a_ratio_is_not_put_down_to_the_machine() {
    for (unit, changes) in [("ratio", 35), ("", 0), ("×", 0)] {
        let [mut a, mut b] = [fixture::results(), scaled(2, "speedup", 1.5)];
        b.canaries = vec![fixture::canary("arithmetic", 101.3 * 1.7, 0.0)];
        let name = |results: &mut Results| results.experiments[2].declaration.metrics[0].unit = unit.into();
        [&mut a, &mut b].into_iter().for_each(name);
        let diff = compare(&a, &b);
        assert_eq!((diff.changes.len(), diff.within_drift.len()), (changes, 35 - changes), "'{unit}'");
        // A ratio of sides that were not measured in turns.
        for later in [&mut b, &mut a] {
            later.experiments[2].declaration.metrics[0].drifts = true;
        }
        assert_eq!(compare(&a, &b).within_drift.len(), 35, "'{unit}'");
        // Results of an earlier version do not say so.
        a.experiments[2].declaration.metrics[0].drifts = false;
        assert_eq!(compare(&a, &b).within_drift.len(), 35, "'{unit}'");
    }
}

#[test]
fn few_values_decide_nothing() {
    let mut b = scaled(0, "ns", 3.0);
    for cell in &mut b.experiments[0].cells {
        if let Some(Quantity::Known { values, .. }) = cell.metrics.get_mut("ns") {
            values.truncate(3);
            cell.repetitions.insert("ns".into(), values.repeat(50));
        }
    }
    let diff = compare(&fixture::results(), &b);
    assert_eq!((diff.changes.len(), diff.undecided), (0, 90));
    assert!(text(&diff, 100).contains("90 had fewer than 4 values on a side"));
}

/// A third of the resamples has a median of 0.
#[test]
fn drift_explains_a_change_from_what_may_be_zero_too() {
    let a = [0.0, 0.0, 0.0, 10.0, 10.0, 10.0, 10.0];
    let a: (&[f64], _) = (&a, &Interval { median: 10.0, low: 0.0, high: 10.0 });
    let b: (&[f64], _) = (&[10.5; 7], &Interval::exactly(10.5));
    assert!(matches!(decide(a, b, Some(0.1)), Decision::WithinDrift(None)));
    assert!(matches!(decide(a, b, Some(0.01)), Decision::Significant(None)));
    let zeros: (&[f64], _) = (&[0.0; 7], &Interval::exactly(0.0));
    assert!(matches!(decide(zeros, b, Some(0.1)), Decision::Significant(None)));
}

#[test]
fn what_is_in_one_only_is_named() {
    let mut b = fixture::results();
    b.experiments.remove(3);
    b.experiments[2].cells.remove(0);
    b.experiments[0].cells[0]
        .metrics
        .insert("ns".into(), Quantity::Unavailable { unavailable: "it crashed".into() });
    let diff = compare(&fixture::results(), &b);
    assert_eq!(diff.only_in_a, ["hab: TLAB 1k, buffers none", "all of zeroing"]);
    assert_eq!(
        diff.unavailable,
        [
            "atomics: lock add, shared line, threads 1: time per increment: only in the first; unavailable: it crashed"
        ]
    );
    let back = compare(&b, &fixture::results());
    assert_eq!(back.only_in_b.len(), 2);
    assert!(back.unavailable[0].contains("only in the second"));
}

#[test]
fn what_else_differs_is_said() {
    let mut b = fixture::results();
    b.terrace = "0.2.0".into();
    b.effort = experiment::Effort::Full;
    b.machine.jdks.truncate(1);
    b.state = State::Interrupted;
    let text = text(&compare(&fixture::results(), &b), 200);
    for words in [
        "versions of terrace differ: 0.1.0, then 0.2.0",
        "efforts differ: quick, then full",
        "the JDKs differ",
        "cells of the",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn from_nothing_to_something_has_no_ratio_and_is_a_change() {
    let mut b = fixture::results();
    // Failed compare-exchanges of the padded layout were 0.
    let cell = b.experiments[0].cells.iter_mut().find(|cell| matches!(&cell.metrics["failed"], Quantity::Known { interval, .. } if interval.median == 0.0)).unwrap();
    cell.metrics.insert("failed".into(), Quantity::of(vec![0.5, 0.6, 0.55, 0.52], ""));
    let diff = compare(&fixture::results(), &b);
    assert_eq!(diff.changes.len(), 1);
    assert_eq!((diff.changes[0].ratio, diff.changes[0].direction), (None, Direction::Changed));
    let json = serde_json::to_string(&diff).unwrap();
    assert_eq!(serde_json::from_str::<Diff>(&json).unwrap(), diff);
    assert!(text(&diff, 100).contains("from or to 0"));
}
