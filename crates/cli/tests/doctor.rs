//! `terrace doctor` with real JVMs.

#[path = "common/examined.rs"]
mod examined;
#[path = "common/real.rs"]
mod installed;
#[path = "common/jvm.rs"]
mod running;
#[path = "common/screen.rs"]
mod screen;

use examined::{
    answer_when, assert_seen_from_outside, collects, finding, report, report_advising, report_of,
    report_when, rules, start, tries_first,
};
use installed::{PATIENCE, installed, jar, java, output, stderr, stdout, terrace};
use running::{Jvm, container, status};
use screen::Screen;
use serde_json::Value;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Collections of threads' unused TLABs that take enough of the time for fewer of them to pay.
const PAYING: [&str; 3] = ["-XX:+UseParallelGC", "-Xmx1500m", "-Xmn16m"];

/// Without the ends of lines.
fn words(said: &str) -> String {
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn threads_that_come_and_go_are_found_and_a_stock_flag_comes_first() {
    let Some(jvm) = start(&PAYING, &["churn"]) else { return };
    let report = report_advising(&jvm, &["-XX:TLABSize=4k", "terrace"]);
    let advice = &finding(&report, "ended threads")["advice"];
    assert_eq!(advice[0]["remedy"]["what"][0], "-XX:TLABSize=4k", "{advice:#}");
    assert_eq!(advice[2]["remedy"]["kind"], "terrace");
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
fn nothing_is_left_behind_and_terrace_is_tried_in_place() {
    let Some(jvm) = start(&PAYING, &["churn"]) else { return };
    let pid = jvm.0.id().to_string();
    report(&jvm);
    assert_eq!(jvm.status(|_| true)["state"], "withdrawn");
    let words = ["doctor", &pid, "--seconds", "2", "--verify", "--duration", "4", "--format", "json"];
    let report = answer_when(&words, |report| tries_first(report, "terrace"));
    let trial = &report["trials"][0];
    assert!(trial["collections"].as_f64().is_some_and(|ratio| ratio < 1.0), "{trial:#}");
    assert!(trial["note"].as_str().unwrap().contains("was withdrawn"), "{trial:#}");
    // It collects all the time.
    assert_eq!(jvm.status(|_| true)["state"], "withdrawn");
    // Whoever is there is looked at, and stays as it is.
    assert!(output(&["attach", &pid]).status.success() && output(&["off", &pid]).status.success());
    let answer = output(&["doctor", &pid, "--seconds", "1"]);
    let said = self::words(&stdout(&answer));
    assert!(answer.status.success() && said.contains("off (core buffers)"), "{said}{}", stderr(&answer));
    assert!(said.contains(&format!("'terrace on {pid}' switches it on")), "{said}");
    let found = jvm.status(|_| true);
    assert_eq!((&found["state"], &found["mode"]), (&"installed".into(), &"off".into()));
    // Switched on, it is tried and left on.
    assert!(output(&["on", &pid]).status.success());
    let answer = output(&["doctor", &pid, "--seconds", "1", "--verify", "--duration", "4"]);
    let said = self::words(&stdout(&answer));
    assert!(said.contains("terrace on against off: speed "), "{said}{}", stderr(&answer));
    assert_eq!(jvm.status(|_| true)["mode"], "on");
}

/// What is measured for ten minutes ends with the user's Ctrl-C, and leaves no buffers on.
#[test]
fn a_trial_in_place_can_be_stopped() {
    let Some(jvm) = start(&PAYING, &["churn"]) else { return };
    let pid = jvm.0.id().to_string();
    report_advising(&jvm, &["terrace"]);
    let words = ["doctor", &pid, "--seconds", "2", "--verify", "--duration", "600"];
    let until = Instant::now() + PATIENCE;
    let (began, doctor) = 'trying: loop {
        let began = Instant::now();
        let mut doctor = terrace(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // One that has found nothing to try has ended.
        while doctor.try_wait().unwrap().is_none() {
            let found = jvm.status(|_| true);
            if found["state"] == "installed" && found["mode"] == "on" {
                break 'trying (began, doctor);
            }
        }
        assert!(Instant::now() < until, "it never tries");
    };
    jvm::os::signal(doctor.id(), libc::SIGINT);
    let answer = doctor.wait_with_output().unwrap();
    let said = stderr(&answer);
    assert_eq!(answer.status.code(), Some(130), "{said}");
    assert!(began.elapsed() < Duration::from_secs(600), "it was measured to its end: {said}");
    assert!(stdout(&answer).is_empty() && said.contains("stopped by a signal"), "{said}");
    assert_eq!(jvm.status(|_| true)["mode"], "off");
    // It collects all the time.
    jvm.status(|status| status["state"] == "withdrawn");
}

#[test]
fn buffers_that_are_there_are_looked_at_and_stay() {
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
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
fn nothing_is_tried_beside_an_observer_that_is_there() {
    let Some(jvm) = start(&PAYING, &["churn"]) else { return };
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
fn a_jvm_of_another_user_in_a_container() {
    let Some(jvm) = container() else { return };
    let report =
        report_when(jvm.pid, |report| report["evidence"]["refills"]["quick"]["count"].as_u64() > Some(0));
    assert_eq!(report["evidence"]["jvm"]["pid"], jvm.pid);
    assert_eq!(status(&jvm, |_| true)["state"], "withdrawn");
    assert_eq!(jvm.left_in_tmp(), Vec::<String>::new());
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
    report_of(jvm.pid);
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
fn the_flag_that_it_advises_cures_what_it_found() {
    let Some(jvm) = start(&["-XX:+UseParallelGC", "-Xmn64m", "-XX:TLABSize=4k"], &["churn"]) else { return };
    let report = report(&jvm);
    let waste = report["evidence"]["allocation"]["waste_ended"].as_f64().unwrap();
    let each = waste / report["evidence"]["threads"]["started"].as_f64().unwrap();
    assert!(each < 16384.0, "{each} bytes a thread: {report:#}");
}

#[test]
fn zgc_is_seen_and_not_advised_buffers() {
    let Some(jvm) = start(&["-XX:+UseZGC"], &["alloc", "--threads", "1"]) else { return };
    let report =
        report_when(jvm.0.id(), |report| report["evidence"]["refills"]["quick"]["count"].as_u64() > Some(0));
    assert_eq!(report["evidence"]["jvm"]["collector"], "Z");
    let findings = report["findings"].to_string();
    assert!(!findings.contains("terrace") && !findings.contains("-Xmn"), "{findings}");
}

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

#[test]
fn advice_is_tried_and_stands_beside_what_was_expected() {
    let Some(_) = installed() else { return };
    let words =
        ["doctor", "--workload", "churn", "--gc", "parallel", "--jvm-arg=-Xmx128m", "--jvm-arg=-Xmn32m"];
    let times = ["--seconds", "2", "--warmup", "1", "--verify", "--duration", "6", "--format", "json"];
    let tried = |report: &Value, remedy: &str| {
        report["trials"].as_array().is_some_and(|all| all.iter().any(|trial| trial["remedy"] == remedy))
    };
    let both = |report: &Value| tried(report, "-XX:TLABSize=4k") && tried(report, "terrace");
    let report = answer_when(&[&words[..], &times[..]].concat(), both);
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
    let report = answer_when(&[&words[..], &heap, &times].concat(), |report| {
        rules(report).contains(&"small young generation")
    });
    let advice = &finding(&report, "small young generation")["advice"][0];
    let remedy = advice["remedy"]["what"].as_array().unwrap().iter().filter_map(Value::as_str);
    let remedy = remedy.collect::<Vec<_>>().join(" ");
    let trial = report["trials"].as_array().unwrap().iter().find(|trial| trial["remedy"] == remedy);
    let (expected, found) = (&advice["effect"]["collections"], &trial.unwrap()["collections"]);
    let factor = found.as_f64().unwrap() / expected.as_f64().unwrap();
    assert!((0.5..2.0).contains(&factor), "{found} of {expected}: {report:#}");
}

#[test]
fn what_is_no_jvm_or_ends_is_one_line() {
    let Some(_) = installed() else { return };
    let mut sleep = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = sleep.id().to_string();
    let java = java();
    for (words, parts) in [
        (vec!["doctor", &pid], vec!["is not a JVM"]),
        (vec!["doctor", "999999999"], vec!["no such process"]),
        (vec!["doctor", "--warmup", "60", "--", &java, "-version"], vec!["the program ended"]),
        (vec!["doctor", "--warmup", "60", "--", "true"], vec!["the program ended"]),
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

/// What a terminal of this height and 80 columns shows in the end.
fn on_screen(pid: u32, rows: u16) -> String {
    let pid = pid.to_string();
    // The command holds the terminal's other side, too: it goes first.
    let mut screen =
        Screen::start(terrace(&["doctor", &pid, "--seconds", "2"]).env("TERM", "xterm-256color"), rows, 80);
    assert!(screen.end().success(), "{}", screen.text());
    screen.text()
}

/// Nothing is above the screen: its first line is the answer's first.
#[test]
fn the_whole_answer_fits_a_small_terminal() {
    let Some(jvm) = start(&PAYING, &["churn"]) else { return };
    report_advising(&jvm, &["-XX:TLABSize=4k", "terrace"]);
    // A machine that is busy for two seconds has a program that allocates too little for it.
    let all = |text: &String| ["- -XX:TLABSize=4k: ", "- terrace: "].iter().all(|part| text.contains(part));
    let text = (0..200).map(|_| on_screen(jvm.0.id(), 24)).find(all);
    let text = text.expect("fewer collections pay");
    assert!(text.starts_with("process      "), "{text}");
    let names = ["use of eden", "collections", "TLAB refills", "threads", "memory", "machine"];
    assert!(names.iter().all(|name| text.lines().any(|line| line.starts_with(name))), "{text}");
    let said = words(&text);
    for part in [
        "1. ended threads: ",
        "- -XX:TLABSize=4k: collections 0.",
        "HotSpot resizes those of threads that stay",
        "- use a pool of threads: ",
        "- terrace: collections 0.",
        "helps a running JVM, without a restart",
    ] {
        assert!(said.contains(part), "'{part}' in\n{text}");
    }
}

/// More than a finding may be more than a screen: then what was observed goes up, and what follows from it stays, to the last remedy.
#[test]
fn several_findings_stay_on_a_small_terminal_with_all_remedies() {
    let flags = ["-XX:+UseParallelGC", "-Xmn8m", "-XX:TLABSize=1k", "-XX:MinTLABSize=1k", "-XX:-ResizeTLAB"];
    let Some(jvm) = start(&flags, &["alloc", "--threads", "2"]) else { return };
    let several =
        |report: &Value| ["refill waste", "shared refills"].iter().all(|rule| rules(report).contains(rule));
    report_when(jvm.0.id(), several);
    let all =
        |text: &String| ["1. refill waste: ", "2. shared refills: "].iter().all(|part| text.contains(part));
    let text = (0..200).map(|_| on_screen(jvm.0.id(), 24)).find(all).expect("both findings");
    let heading = text.lines().position(|line| line.starts_with("Effects expected for the same work"));
    let heading = heading.unwrap_or_else(|| panic!("the first finding is above the screen:\n{text}"));
    let said = words(&text.lines().skip(heading).collect::<Vec<_>>().join("\n"));
    for part in [
        "1. refill waste: ",
        "- leave out -XX:TLABSize and -XX:-ResizeTLAB: collections 0.",
        "2. shared refills: ",
        "- -XX:TLABSize=8k: speed 1.",
        "- terrace: speed 1.",
    ] {
        assert!(said.contains(part), "'{part}' in\n{text}");
    }
}
