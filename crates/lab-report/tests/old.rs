//! Results stay readable: `old/results.json` was written by the lab of November 2026, before it was split into crates.

use experiment::results;
use std::path::Path;

#[test]
fn a_run_of_the_first_lab_opens_is_shown_and_compared() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old");
    let results = results::read(&folder).unwrap();
    let text = terrace_lab_report::text::run(&results, 100);
    assert!(text.contains("lock cmpxchg loop") && text.contains("2.64 [2.50, 2.67] ns"), "{text}");
    assert!(terrace_lab_report::page(&results).unwrap().contains("Counting with several threads"));
    let diff = terrace_lab_report::diff::compare(&results, &results);
    assert!(terrace_lab_report::diff::text(&diff, 100).contains("nothing changed significantly"));
}
