//! Programs that the doctor starts itself.

use crate::examined::answer_when;
use crate::installed::{PATIENCE, installed, jar, java, output, stderr, stdout};
use std::time::Instant;

#[test]
fn a_program_is_started_watched_and_ended_and_a_page_shows_it() {
    let Some(_) = installed() else { return };
    let words = [
        "doctor",
        "--workload",
        "churn",
        "--gc",
        "serial",
        "--jvm-arg=-Xmx128m",
        "--seconds",
        "2",
        "--warmup",
        "1",
    ];
    let until = Instant::now() + PATIENCE;
    let page = loop {
        let answer = output(&[&words[..], &["--format", "html"]].concat());
        let page = stdout(&answer);
        assert!(answer.status.success(), "{}", stderr(&answer));
        // Of two seconds a busy machine may have too little for the last ones.
        let parts = ["<html", "use of eden", "ended threads", "use a pool of threads", "-XX:TLABSize=4k"];
        match parts.iter().find(|part| !page.contains(**part)) {
            None => break page,
            Some(part) => assert!(Instant::now() < until, "{part}"),
        }
    };
    let asks = ["src=\"http", "href=\"http", "url(http", "@import"].iter().any(|part| page.contains(part));
    assert!(!asks, "a page asks no network");
}

/// Programs answer SIGTERM with an exit code of their own choice.
#[test]
fn a_program_that_does_not_end_well_has_been_watched_all_the_same() {
    let Some(folder) = installed() else { return };
    let script = format!(
        "trap 'wait; exit 3' TERM; '{}' -Xmx64m -jar '{}' churn --seconds 600 & wait",
        java(),
        jar(&folder)
    );
    let times = ["doctor", "--seconds", "2", "--warmup", "1", "--format", "json"];
    let report = answer_when(&[&times[..], &["--", "sh", "-c", &script]].concat(), |report| {
        report["evidence"]["refills"]["quick"]["count"].as_u64() > Some(0)
    });
    let missing = report["evidence"]["missing"].to_string();
    assert!(missing.contains("an orderly end of the program: sh exited with status 3"), "{missing}");
}
