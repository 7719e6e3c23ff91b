//! Programs that the doctor starts itself.

use crate::examined::{answer_when, refills};
use crate::installed::{PATIENCE, installed, jar, java, output, status_of, stderr, stdout};
use crate::paying;
use serde_json::Value;
use std::time::Instant;

#[test]
fn a_program_is_started_watched_and_ended_and_a_page_shows_it() {
    let Some(_) = installed() else { return };
    let program = ["doctor", "--workload", "churn", "--threads", "4", "--seconds", "2", "--warmup", "1"];
    let flags = paying();
    let words: Vec<&str> = program.into_iter().chain(flags.iter().map(String::as_str)).collect();
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
        "trap 'wait; exit 3' TERM; '{}' -Xmx64m -jar '{}' churn --threads 4 --seconds 600 & wait",
        java(),
        jar(&folder)
    );
    let times = ["doctor", "--seconds", "2", "--warmup", "1", "--format", "json"];
    let report = answer_when(&[&times[..], &["--", "sh", "-c", &script]].concat(), refills);
    let missing = report["evidence"]["missing"].to_string();
    assert!(missing.contains("a clean exit of the program: sh exited with status 3"), "{missing}");
}

/// As scripts of servers do: the version is asked for first.
#[test]
fn the_jvm_that_a_script_asks_for_its_version_is_not_the_one_that_is_watched() {
    let Some(folder) = installed() else { return };
    let (java, jar) = (java(), jar(&folder));
    let script = format!(
        "'{java}' -Xmx32m -version && exec '{java}' -Xmx64m -jar '{jar}' churn --threads 4 --seconds 600"
    );
    let times = ["doctor", "--seconds", "2", "--warmup", "1", "--format", "json"];
    let at_work =
        |report: &Value| refills(report) && report["evidence"]["threads"]["started"].as_u64() > Some(0);
    answer_when(&[&times[..], &["--", "sh", "-c", &script]].concat(), at_work);
}

/// A process that is nobody's child any more, ended when dropped.
struct Ended(u32);

impl Drop for Ended {
    fn drop(&mut self) {
        jvm::os::signal(self.0, 9);
    }
}

/// A build tool's: one JVM waits for another that works, and stays behind.
#[test]
fn of_two_jvms_the_one_that_works_is_watched_and_who_stays_behind_is_left_alone() {
    let Some(folder) = installed() else { return };
    if jvm::jdk::newest().unwrap().feature < 18 {
        skips::skip!("two JVMs of one program: no JDK has a server that waits (18 and later)");
        return;
    }
    let (java, jar) = (java(), jar(&folder));
    let place = tempfile::tempdir().unwrap();
    let pid_file = place.path().join("pid");
    let served = place.path().to_str().unwrap();
    let script = format!(
        "setsid '{java}' -Xmx64m -jar '{jar}' churn --threads 4 --seconds 600 >/dev/null 2>&1 & echo $! >'{}'; \
         exec '{java}' -m jdk.httpserver -p 0 -d '{served}'",
        pid_file.display(),
    );
    let words = ["doctor", "--seconds", "2", "--warmup", "3", "--format", "json", "--", "sh", "-c", &script];
    let until = Instant::now() + PATIENCE;
    loop {
        let answer = output(&words);
        let worker = Ended(std::fs::read_to_string(&pid_file).unwrap().trim().parse().unwrap());
        let report: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap_or_default();
        let missing = report["evidence"]["missing"].to_string();
        // A busy machine may have started only one of them by then.
        if missing.contains("other JVMs of the program (") && report["evidence"]["jvm"]["pid"] == worker.0 {
            status_of(worker.0, |found| found["state"] == "withdrawn");
            break;
        }
        assert!(Instant::now() < until, "{}{}", stdout(&answer), stderr(&answer));
    }
}
