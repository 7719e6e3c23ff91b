//! The answer on a terminal.

use crate::examined::{report_advising, report_when, rules, start};
use crate::installed::terrace;
use crate::screen::Screen;
use crate::{CHURN, PAYING, words};
use serde_json::Value;

/// What a terminal of this height and 80 columns shows in the end, where the observer has left in time.
fn on_screen(pid: u32, rows: u16) -> Option<String> {
    let pid = pid.to_string();
    // The command holds the terminal's other side, too: it goes first.
    let mut screen =
        Screen::start(terrace(&["doctor", &pid, "--seconds", "2"]).env("TERM", "xterm-256color"), rows, 80);
    screen.end().success().then(|| screen.text())
}

/// Whether the machine has findings of its own, which take the lines of a small terminal: then the test is skipped.
fn of_the_machine(report: &Value) -> bool {
    let found = rules(report).into_iter().find(|rule| ["throttled", "memory nodes"].contains(rule));
    if let Some(rule) = found {
        skips::skip!("a machine without a finding of its own: '{rule}'");
    }
    found.is_some()
}

/// In the background of that terminal it would be stopped for good.
#[test]
fn a_program_that_asks_the_terminal_is_told_that_there_is_none() {
    let script = "read answer < /dev/tty || { echo it has no terminal >&2; exit 3; }";
    let words_of = ["compare", "--b", "stock", "--", "sh", "-c", script];
    let mut screen = Screen::start(terrace(&words_of).env("TERM", "xterm-256color"), 24, 80);
    assert!(!screen.end().success(), "{}", screen.text());
    assert!(words(&screen.text()).contains("it has no terminal"), "{}", screen.text());
}

/// Nothing is above the screen: its first line is the answer's first.
#[test]
fn the_whole_answer_fits_a_small_terminal() {
    let Some(jvm) = start(&PAYING, &CHURN) else { return };
    if of_the_machine(&report_advising(&jvm, &["-XX:TLABSize=4k", "terrace"])) {
        return;
    }
    // A machine that is busy for two seconds has a program that allocates too little for it.
    let all = |text: &String| {
        // A second finding may come of a moment, and takes lines.
        ["- -XX:TLABSize=4k: ", "- terrace: "].iter().all(|part| text.contains(part))
            && !text.contains("\n2. ")
    };
    let text = (0..200).filter_map(|_| on_screen(jvm.0.id(), 24)).find(all);
    let text = text.expect("fewer collections pay");
    assert!(text.starts_with("process      "), "{text}");
    let names = ["use of eden", "collections", "CPU time", "TLAB refills", "threads", "memory", "machine"];
    assert!(names.iter().all(|name| text.lines().any(|line| line.starts_with(name))), "{text}");
    let said = words(&text);
    for part in [
        "1. ended threads: ",
        "- -XX:TLABSize=4k: collections 0.",
        "- use a pool of threads: ",
        "- terrace: collections 0.",
    ] {
        assert!(said.contains(part), "'{part}' in\n{text}");
    }
    // How many lines the facts take depends on their digits: notes that have no room are elsewhere, and it says where.
    let notes = ["HotSpot resizes those of threads that stay", "helps a running JVM, without a restart"];
    let elsewhere = said.contains("Other notes on these remedies: --format html");
    assert!(elsewhere || notes.iter().all(|note| said.contains(note)), "{text}");
}

/// More than a finding may be more than a screen: then what was observed goes up, and what follows from it stays, to the last remedy.
#[test]
fn several_findings_stay_on_a_small_terminal_with_all_remedies() {
    let flags = ["-XX:+UseParallelGC", "-Xmn8m", "-XX:TLABSize=1k", "-XX:MinTLABSize=1k", "-XX:-ResizeTLAB"];
    let Some(jvm) = start(&flags, &["alloc", "--threads", "2"]) else { return };
    let several =
        |report: &Value| ["refill waste", "shared refills"].iter().all(|rule| rules(report).contains(rule));
    if of_the_machine(&report_when(jvm.0.id(), several)) {
        return;
    }
    let all =
        |text: &String| ["1. refill waste: ", "2. shared refills: "].iter().all(|part| text.contains(part));
    let text = (0..200).filter_map(|_| on_screen(jvm.0.id(), 24)).find(all).expect("both findings");
    let heading = text.lines().position(|line| line.starts_with("Effects expected for the same work"));
    let heading = heading.unwrap_or_else(|| panic!("the first finding is above the screen:\n{text}"));
    let said = words(&text.lines().skip(heading).collect::<Vec<_>>().join("\n"));
    for part in [
        "1. refill waste: ",
        "- leave out -XX:TLABSize and -XX:-ResizeTLAB: collections 0.",
        "2. shared refills: ",
        "- -XX:TLABSize=8k in place of your -XX:TLABSize=1k: collections 1.",
        "- terrace: speed 1.",
    ] {
        assert!(said.contains(part), "'{part}' in\n{text}");
    }
}
