//! What is seen of a running JVM, whatever state it is in.

use crate::examined::{
    assert_seen_from_outside, collects, finding, memory_is_readable, refills, report_of, report_when, rules,
    start,
};
use crate::installed::{PATIENCE, installed, java, output, stderr, stdout, terrace};
use crate::running::{Jvm, container, status};
use crate::{CHURN, PAYING, words};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn threads_that_come_and_go_are_found_and_a_stock_flag_comes_first() {
    let Some(jvm) = start(&PAYING, &CHURN) else { return };
    let report = report_when(jvm.0.id(), |report| {
        if !rules(report).contains(&"ended threads") {
            return false;
        }
        let advice = &finding(report, "ended threads")["advice"];
        advice[0]["remedy"]["what"][0] == "-XX:TLABSize=4k" && advice[2]["remedy"]["kind"] == "terrace"
    });
    let advice = &finding(&report, "ended threads")["advice"];
    let evidence = &report["evidence"];
    let allocation = |name: &str| evidence["allocation"][name].as_f64().unwrap();
    assert!(
        allocation("waste_ended") > allocation("objects"),
        "a task allocates a few KB of a TLAB: {report:#}"
    );
    let task = allocation("of_ended_thread");
    assert!((2048.0..16384.0).contains(&task), "a task allocates 4 KB: {report:#}");
    // HotSpot's own count, coarser: what was handed out is an eden for each collection.
    let (eden, collections) = (&evidence["eden"]["bytes"], &evidence["eden"]["collections"]);
    let (eden, collections) = (eden.as_f64().unwrap(), collections.as_f64().unwrap());
    let between = 0.5 * eden * (collections - 1.0)..1.5 * eden * (collections + 1.0);
    assert!(between.contains(&allocation("used")), "{report:#}");
    assert!(report["evidence"]["refills"]["quick"]["count"].as_u64() > Some(0), "{report:#}");
    for ratio in ["collections", "speed"] {
        assert!(advice[0]["effect"][ratio].as_f64() > Some(0.0));
    }
}

#[test]
fn buffers_that_are_there_are_looked_at_and_stay() {
    // Room for the buffers of two hundred cores: smaller ones would serve fewer requests.
    let jvm = Jvm::start(&[], &["-Xmx400m", "-Xmn256m"]).filter(|_| memory_is_readable());
    let Some(jvm) = jvm else { return };
    assert_eq!(jvm.ask("attach", &["core=64k"]).0, Some(0));
    let report = report_of(jvm.pid);
    let (terrace, allocation) = (&report["evidence"]["terrace"], &report["evidence"]["allocation"]);
    let number = |of: &Value, name: &str| of[name].as_f64().unwrap_or_else(|| panic!("{name} of {report:#}"));
    assert_eq!((&terrace["levels"], &terrace["on"]), (&"core".into(), &true.into()), "{report:#}");
    // Sixteen TLABs of 4 KB fit a buffer.
    assert!(number(terrace, "to_heap") * 8.0 < number(terrace, "requests"), "{terrace:#}");
    assert!(number(allocation, "objects") > 0.5 * number(allocation, "used"), "{allocation:#}");
    for finding in report["findings"].as_array().unwrap() {
        let advice = finding["advice"].as_array().unwrap();
        assert!(advice.iter().all(|advice| advice["remedy"]["kind"] != "terrace"), "{finding:#}");
    }
    let shown = status(&jvm, |_| true);
    assert_eq!((&shown["state"], &shown["mode"]), (&"installed".into(), &"on".into()));
    let until = Instant::now() + PATIENCE;
    loop {
        let (code, said) = jvm.ask("doctor", &["--seconds", "1"]);
        let said = words(&said);
        if said.contains("on (core buffers): it saves") && said.contains("terrace compare") {
            break;
        }
        // Of a second a busy machine may have no request.
        assert!(code == Some(0) && Instant::now() < until, "{said}");
    }
}

/// Its counters stand still from then on.
#[test]
fn an_observer_that_somebody_else_withdraws_meanwhile_is_missed() {
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
    report_when(jvm.pid, refills);
    let doctor = ["doctor", &jvm.pid.to_string(), "--seconds", "10", "--format", "json"];
    let until = Instant::now() + PATIENCE;
    let answer = loop {
        let mut doctor = terrace(&doctor).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while status(&jvm, |_| true)["state"] != "observing" && doctor.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(50));
        }
        // Refused where the watching is over by now.
        jvm.ask("off", &[]);
        let answer = doctor.wait_with_output().unwrap();
        let report: Value = serde_json::from_slice(&answer.stdout).unwrap_or_default();
        if report["evidence"]["missing"].to_string().contains("by another command") {
            break report;
        }
        assert!(Instant::now() < until, "{report:#}{}", stderr(&answer));
    };
    let evidence = &answer["evidence"];
    assert!(evidence["allocation"].is_null() && evidence["refills"].is_null(), "{answer:#}");
    assert!(answer["unjudged"].as_array().is_some_and(|rules| !rules.is_empty()), "{answer:#}");
}

#[test]
fn an_observer_that_is_there_is_used_and_stays() {
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
    assert_eq!(jvm.ask("attach", &["levels=none", "times=true"]).0, Some(0));
    let report = report_when(jvm.pid, |report| {
        let quick = &report["evidence"]["refills"]["quick"];
        quick["count"].as_u64() > Some(0) && quick["timed"].as_u64() > Some(0)
    });
    assert!(
        report["evidence"]["missing"].to_string().contains("an observer was already installed"),
        "{report:#}"
    );
    assert_eq!(status(&jvm, |_| true)["state"], "observing");
}

#[test]
fn a_jvm_of_another_user_in_a_container() {
    let Some(jvm) = container() else { return };
    let report = report_when(jvm.pid, refills);
    assert_eq!(report["evidence"]["jvm"]["pid"], jvm.pid);
    status(&jvm, |found| found["state"] == "withdrawn");
    assert_eq!(jvm.left_in_tmp(), Vec::<String>::new());
}

/// As `| head -1` does, and a connection that breaks.
#[test]
fn who_closes_the_pipe_finds_the_jvm_as_it_was() {
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
    // It may be asked too early.
    report_when(jvm.pid, refills);
    let mut doctor = terrace(&["doctor", &jvm.pid.to_string(), "--seconds", "2"]);
    let mut doctor = doctor.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // At once: the answer would have room in the pipe.
    drop(doctor.stdout.take());
    let mut told = BufReader::new(doctor.stderr.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    assert!(line.contains("watching"), "{line}");
    drop(told);
    let end = doctor.wait().unwrap();
    assert_eq!(end.signal(), Some(13), "nobody reads the answer: {end:?}");
    status(&jvm, |found| found["state"] == "withdrawn");
}

#[test]
fn a_full_disk_is_one_line() {
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
    report_when(jvm.pid, refills);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let answer = terrace(&["doctor", &jvm.pid.to_string(), "--seconds", "1"]).stdout(full).output().unwrap();
    let said = stderr(&answer);
    assert_eq!(answer.status.code(), Some(1), "{said}");
    assert!(
        said.ends_with("free space, or write it to another place\n") && !said.contains("panicked"),
        "{said}"
    );
    status(&jvm, |found| found["state"] == "withdrawn");
}

#[test]
fn a_jvm_that_does_not_attach_is_seen_from_outside() {
    let Some(jvm) = Jvm::start(&[], &["-XX:+DisableAttachMechanism"]) else { return };
    assert_seen_from_outside(&report_when(jvm.pid, collects), "-XX:+DisableAttachMechanism");
}

/// HotSpot answers one request after the other, and reads one to its end: whoever does not finish his keeps all others waiting. This takes the
/// minute of the doctor's patience, beside tests that take as long together.
#[test]
fn a_jvm_that_does_not_answer_is_seen_from_outside() {
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
    // Its socket is open then.
    assert_eq!(jvm.ask("attach", &["levels=none"]).0, Some(0));
    assert_eq!(jvm.ask("off", &[]).0, Some(0));
    let mut unfinished = UnixStream::connect(format!("/tmp/.java_pid{}", jvm.pid)).unwrap();
    unfinished.write_all(b"1\0").unwrap();
    let report = report_when(jvm.pid, collects);
    assert_seen_from_outside(&report, "has not answered in 60 s (getversion)");
    drop(unfinished);
    let (code, said) = jvm.ask("attach", &["core=64k"]);
    assert!(code == Some(0) && said.contains("installed"), "it answers again: {said}");
}

#[test]
fn a_program_that_ends_meanwhile_is_told() {
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
    let pid = jvm.pid.to_string();
    // It may be asked too early.
    report_when(jvm.pid, refills);
    let doctor = terrace(&["doctor", &pid, "--seconds", "600"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    status(&jvm, |status| status["state"] == "observing");
    jvm::os::signal(jvm.pid, 9);
    let answer = doctor.wait_with_output().unwrap();
    let said = stderr(&answer);
    assert_eq!(answer.status.code(), Some(1), "{said}");
    let line = said.lines().last().unwrap_or_default();
    assert!(line.contains(&format!("process {pid} ended while it was watched")), "{said}");
    assert!(stdout(&answer).is_empty());
}

#[test]
fn zgc_is_seen_and_not_advised_buffers() {
    let Some(jvm) = start(&["-XX:+UseZGC"], &["alloc", "--threads", "1"]) else { return };
    let report = report_when(jvm.0.id(), refills);
    assert_eq!(report["evidence"]["jvm"]["collector"], "Z");
    assert_eq!(report["evidence"]["eden"]["phases"], true, "it counts pauses, several of each collection");
    let findings = report["findings"].to_string();
    assert!(!findings.contains("terrace") && !findings.contains("-Xmn"), "{findings}");
}

#[test]
fn what_is_no_jvm_or_ends_is_one_line() {
    let Some(_) = installed() else { return };
    let mut sleep = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = sleep.id().to_string();
    let java = java();
    for (words, parts) in [
        (vec!["doctor", &pid], vec!["is not a JVM", "'terrace top' lists them"]),
        (vec!["doctor", "999999999"], vec!["no such process", "'terrace top' lists"]),
        (vec!["doctor", "--warmup", "60", "--", &java, "-version"], vec!["the program ended"]),
        (
            vec!["doctor", "--warmup", "60", "--", "true"],
            vec!["the program ended", "check that", "that runs for longer"],
        ),
        (vec!["doctor"], vec!["by its PID", "after --"]),
        (vec!["doctor", &pid, "--", &java, "-version"], vec!["not both"]),
        (vec!["doctor", &pid, "--duration", "5"], vec!["--verify"]),
        (
            vec!["doctor", &pid, "--verify", "--forks=concurrent"],
            vec!["--forks applies to a program that is started here"],
        ),
        (vec!["doctor", "--verify", "--forks=parallel", "--", &java], vec!["interleaved, concurrent"]),
        (vec!["doctor", "java"], vec!["PID"]),
    ] {
        let answer = output(&words);
        let said = stderr(&answer);
        assert!(!answer.status.success() && stdout(&answer).is_empty(), "{words:?}: {said}");
        let line = said.lines().last().unwrap_or_default();
        assert!(parts.iter().all(|part| line.contains(part)), "{words:?}: {said}");
    }
    assert!(sleep.try_wait().unwrap().is_none(), "it was left alone");
    sleep.kill().unwrap();
    sleep.wait().unwrap();
}
