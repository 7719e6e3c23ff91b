//! The experiment `observer` with real JVMs: one is observed while it is measured, another one before.
#![cfg(feature = "lab")]

#[path = "common/real.rs"]
mod installed;

use installed::{installed, output, stderr};
use serde_json::Value;

/// A round of `alloc` with this warm-up: whether it succeeded, and its results.
fn round(warmup: u32) -> (bool, Value) {
    let folder = tempfile::tempdir().unwrap();
    let (out, warmup) = (folder.path().to_str().unwrap(), format!("--warmup={warmup}"));
    let what = ["lab", "run", "observer", "--only", "workload=alloc", "--rounds=1", "--seconds=1"];
    let ran = output(&[&what[..], &[&warmup, "--out", out]].concat());
    let results = std::fs::read_to_string(folder.path().join("results.json"));
    (
        ran.status.success(),
        serde_json::from_str(&results.unwrap_or_else(|_| panic!("{}", stderr(&ran)))).unwrap(),
    )
}

#[test]
fn work_with_an_observer_and_after_it_is_compared_with_a_stock_jvms() {
    if installed().is_none() {
        return;
    }
    // On a busy machine the observer comes and goes more slowly.
    let rounds = [2, 8, 32, 64].into_iter().map(round);
    let (_, results) =
        rounds.into_iter().find(|(succeeded, _)| *succeeded).expect("a visit within the warm-up");
    let cell = &results["experiments"][0]["cells"][0];
    assert_eq!(cell["processes"], 3, "{cell:#}");
    for metric in ["observed", "left", "observed_all", "left_all"] {
        let ratio =
            cell["metrics"][metric]["median"].as_f64().unwrap_or_else(|| panic!("{metric} of {cell:#}"));
        assert!((0.2..5.0).contains(&ratio), "{metric} of {cell:#}");
    }
}

#[test]
fn a_warm_up_that_is_too_short_for_the_observer_is_an_error() {
    if installed().is_none() {
        return;
    }
    let (succeeded, results) = round(0);
    assert!(!succeeded && results.to_string().contains("increase --warmup"), "{results:#}");
}
