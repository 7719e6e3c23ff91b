//! What is advised is tried: in place, and by forks.

use crate::examined::{
    answer_when, finding, report, report_advising, report_when, rules, start, tries_first,
};
use crate::installed::{Busy, PATIENCE, installed, output, stderr, stdout, terrace};
use crate::{CHURN, PAYING, paying};
use serde_json::Value;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

#[test]
fn nothing_is_left_behind_and_terrace_is_tried_in_place() {
    let Some(jvm) = start(&PAYING, &CHURN) else { return };
    let pid = jvm.0.id().to_string();
    report(&jvm);
    jvm.status(|found| found["state"] == "withdrawn");
    let words = ["doctor", &pid, "--seconds", "2", "--verify", "--duration", "4", "--format", "json"];
    let note = "the agent was withdrawn from the JVM";
    // On a busy machine a window may have no collection, and a withdrawal take longer than it is waited for.
    let measured = |report: &Value| {
        let trial = &report["trials"][0];
        trial["speed"].is_object()
            && trial["collections"].is_number()
            && trial["note"].as_str().is_some_and(|said| said.ends_with(note))
    };
    let report = answer_when(&words, |report| tries_first(report, "terrace") && measured(report));
    let trial = &report["trials"][0];
    assert!(trial["collections"].as_f64().is_some_and(|ratio| ratio < 1.0), "{trial:#}");
    assert!(trial["speed_cpu"]["median"].as_f64() > Some(0.0), "{trial:#}");
    // It collects all the time.
    jvm.status(|found| found["state"] == "withdrawn");
    // Whoever is there is looked at, and stays as it is.
    assert!(output(&["attach", &pid]).status.success() && output(&["off", &pid]).status.success());
    let answer = output(&["doctor", &pid, "--seconds", "1"]);
    let said = crate::words(&stdout(&answer));
    assert!(answer.status.success() && said.contains("off (core buffers)"), "{said}{}", stderr(&answer));
    assert!(said.contains(&format!("'terrace on {pid}' switches it on")), "{said}");
    let found = jvm.status(|_| true);
    assert_eq!((&found["state"], &found["mode"]), (&"installed".into(), &"off".into()));
    // Switched on, it is tried and left on.
    assert!(output(&["on", &pid]).status.success());
    let answer = output(&["doctor", &pid, "--seconds", "1", "--verify", "--duration", "4"]);
    let said = crate::words(&stdout(&answer));
    assert!(said.contains("terrace on against off: speed "), "{said}{}", stderr(&answer));
    assert_eq!(jvm.status(|_| true)["mode"], "on");
}

/// A doctor that tries buffers for ten minutes, in a window with them, and when it began.
fn trying(jvm: &Busy, format: &str) -> (Instant, Child) {
    let pid = jvm.0.id().to_string();
    report_advising(jvm, &["terrace"]);
    let words = ["doctor", &pid, "--seconds", "2", "--verify", "--duration", "600", "--format", format];
    let until = Instant::now() + PATIENCE;
    loop {
        let began = Instant::now();
        let mut doctor = terrace(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // One that has found nothing to try has ended.
        while doctor.try_wait().unwrap().is_none() {
            let found = jvm.status(|_| true);
            if found["state"] == "installed" && found["mode"] == "on" {
                return (began, doctor);
            }
        }
        assert!(Instant::now() < until, "it never tries");
    }
}

#[test]
fn buffers_that_are_switched_on_during_a_trial_stay() {
    let Some(jvm) = start(&PAYING, &CHURN) else { return };
    let pid = jvm.0.id().to_string();
    let (began, doctor) = trying(&jvm, "json");
    assert!(output(&["on", &pid]).status.success());
    let answer = doctor.wait_with_output().unwrap();
    assert!(began.elapsed() < Duration::from_secs(600), "{}", stderr(&answer));
    let said = stderr(&answer);
    assert_eq!(answer.status.code(), Some(1), "{said}");
    assert!(said.ends_with("terrace: 1 of 1 remedies could not be tried; the report says why\n"), "{said}");
    let report: Value = serde_json::from_slice(&answer.stdout).unwrap();
    let expected = format!(
        "failed: another command has switched the buffers on for good meanwhile; the buffers stay; 'terrace off {pid}' switches them off"
    );
    assert_eq!(report["trials"][0]["note"], expected.as_str(), "{report:#}");
    let found = jvm.status(|_| true);
    assert_eq!((&found["state"], &found["mode"]), (&"installed".into(), &"on".into()));
}

/// What is measured for ten minutes ends with the user's Ctrl-C, and leaves no buffers on.
#[test]
fn a_trial_in_place_can_be_stopped() {
    let Some(jvm) = start(&PAYING, &CHURN) else { return };
    let (began, doctor) = trying(&jvm, "table");
    jvm::os::signal(doctor.id(), libc::SIGINT);
    let answer = doctor.wait_with_output().unwrap();
    let said = stderr(&answer);
    assert_eq!(answer.status.code(), Some(130), "{said}");
    assert!(began.elapsed() < Duration::from_secs(600), "it was measured to its end: {said}");
    // What was watched is not lost.
    let report = stdout(&answer);
    assert!(report.starts_with("process ") && report.contains("- terrace: "), "{report}");
    assert!(said.contains("stopped by a signal"), "{said}");
    assert_eq!(jvm.status(|_| true)["mode"], "off");
    // It collects all the time.
    jvm.status(|status| status["state"] == "withdrawn");
}

#[test]
fn nothing_is_tried_beside_an_observer_that_is_there() {
    let Some(jvm) = start(&PAYING, &CHURN) else { return };
    let pid = jvm.0.id().to_string();
    report(&jvm);
    assert!(output(&["attach", &pid, "levels=none", "times=true"]).status.success());
    let words = ["doctor", &pid, "--seconds", "2", "--verify", "--duration", "4", "--format", "json"];
    let report = answer_when(&words, |report| tries_first(report, "terrace"));
    let trial = &report["trials"][0];
    assert!(trial["remedy"] == "terrace" && trial["speed"].is_null(), "{report:#}");
    assert!(trial["note"].as_str().unwrap().contains("not tried: an observer"), "{trial:#}");
    assert_eq!(jvm.status(|_| true)["state"], "observing");
}

#[test]
fn the_flag_that_it_advises_cures_what_it_found() {
    let Some(jvm) = start(&["-XX:+UseParallelGC", "-Xmn64m", "-XX:TLABSize=4k"], &CHURN) else { return };
    let report =
        report_when(jvm.0.id(), |report| report["evidence"]["threads"]["started"].as_u64() > Some(0));
    let waste = report["evidence"]["allocation"]["waste_ended"].as_f64().unwrap();
    let each = waste / report["evidence"]["threads"]["started"].as_f64().unwrap();
    assert!(each < 16384.0, "{each} bytes a thread: {report:#}");
}

#[test]
fn advice_is_tried_and_stands_beside_what_was_expected() {
    let Some(_) = installed() else { return };
    let program = ["doctor", "--workload", "churn", "--threads", "4"];
    let flags = paying();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let times = ["--seconds", "2", "--warmup", "1", "--verify", "--duration", "6", "--format", "json"];
    let tried = |report: &Value, remedy: &str| {
        report["trials"].as_array().is_some_and(|all| all.iter().any(|trial| trial["remedy"] == remedy))
    };
    // One may fail for a reason of the moment.
    let all_measured = |report: &Value| {
        report["trials"].as_array().is_some_and(|all| all.iter().all(|trial| trial["speed"].is_object()))
    };
    let both =
        |report: &Value| tried(report, "-XX:TLABSize=4k") && tried(report, "terrace") && all_measured(report);
    let report = answer_when(&[&program[..], &flags, &times].concat(), both);
    for trial in report["trials"].as_array().unwrap() {
        assert!(trial["speed"]["median"].as_f64() > Some(0.0), "{trial:#}");
    }
}

/// As much of the heap is used up with a larger young generation: what the trial has to show is how often it is collected.
#[test]
fn a_larger_young_generation_is_judged_by_its_collections() {
    let Some(_) = installed() else { return };
    let words = ["doctor", "--workload", "alloc", "--threads", "2", "--size", "400", "--gc", "serial"];
    let heap = ["--jvm-arg=-Xmx64m", "--jvm-arg=-Xmn2m"];
    let times = ["--seconds", "2", "--warmup", "1", "--verify", "--duration", "6", "--format", "json"];
    let all_counted = |report: &Value| {
        let trials = report["trials"].as_array();
        trials.is_some_and(|all| !all.is_empty() && all.iter().all(|trial| trial["collections"].is_number()))
    };
    let report = answer_when(&[&words[..], &heap, &times].concat(), |report| {
        rules(report).contains(&"small young generation") && all_counted(report)
    });
    let advice = &finding(&report, "small young generation")["advice"][0];
    let remedy = advice["remedy"]["what"].as_array().unwrap().iter().filter_map(Value::as_str);
    let remedy = remedy.collect::<Vec<_>>().join(" ");
    let trial = report["trials"].as_array().unwrap().iter().find(|trial| trial["remedy"] == remedy);
    let (expected, found) = (&advice["effect"]["collections"], &trial.unwrap()["collections"]);
    let factor = found.as_f64().unwrap() / expected.as_f64().unwrap();
    assert!((0.5..2.0).contains(&factor), "{found} of {expected}: {report:#}");
}
