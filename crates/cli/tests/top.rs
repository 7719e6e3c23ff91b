//! `terrace top` on a terminal, and for machines; `terrace export`.
#![cfg(feature = "fleet")]

#[path = "common/real.rs"]
mod installed;
#[path = "common/jvm.rs"]
mod running;
#[path = "common/screen.rs"]
mod screen;

use installed::{PATIENCE, output, stderr, stdout};
use running::{Jvm, status};
use screen::Screen;
use std::process::Command;
use std::time::Instant;

fn top(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_terrace"));
    command.arg("top").args(words).env("TERM", "xterm-256color").env_remove("NO_COLOR");
    command
}

#[test]
fn jvms_are_shown_and_switched_on_a_terminal() {
    let Some(stock) = Jvm::start(&[], &["-Xmn4m"]) else { return };
    let with = Jvm::start(&[], &[]).unwrap();
    assert_eq!(with.ask("attach", &["core=64k"]).0, Some(0));
    let (stock, pid) = (stock.pid.to_string(), with.pid.to_string());
    let mut screen = Screen::start(&mut top(&[&pid, &stock, "--refresh", "200ms", "--sort", "pid"]), 24, 80);
    let row = |text: &str, pid: &str, word: &str| {
        text.lines().any(|line| line.contains(pid) && line.contains("terrace-work") && line.contains(word))
    };
    screen.until("both JVMs", |text| row(text, &pid, " on ") && row(text, &stock, " stock "));
    screen.until("what the stock one allocates", |text| row(text, &stock, "~"));
    assert!(screen.is_full_screen() && screen.text().contains("q quit"), "{}", screen.text());
    assert!(screen.has_colours());

    // The last row is the JVM with the higher number.
    screen.press("\u{1b}[F");
    let to_stock = with.pid < stock.parse().unwrap();
    if to_stock {
        screen.press("o");
        screen.until("why it cannot be switched", |text| text.contains("terrace attach"));
        screen.press("k");
    }
    screen.press("d");
    screen.until("its domains", |text| text.contains("core 0") && text.contains("foreign/s"));
    screen.press("o");
    screen.until("that it is off", |text| row(text, &pid, " off ") && text.contains("buffers off"));
    status(&with, |status| status["mode"] == "off");
    screen.press("?");
    screen.until("help", |text| text.contains("requests for TLABs"));
    screen.press("q");
    assert!(screen.end().success());
    assert!(!screen.is_full_screen(), "the terminal is left as it was");
}

#[test]
fn without_colours_and_ended_by_a_signal() {
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
    let mut screen = Screen::start(top(&["--refresh", "200ms"]).env("NO_COLOR", "1"), 24, 80);
    let pid = jvm.pid.to_string();
    screen.until("the JVM", |text| text.contains(&pid));
    assert!(!screen.has_colours());
    screen.signal(15);
    let ended = screen.end();
    assert!(!ended.success() && !screen.is_full_screen(), "{ended}");
}

/// A connection that is cut takes the terminal along.
#[test]
fn it_ends_with_its_terminal() {
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
    let mut screen = Screen::start(&mut top(&["--refresh", "200ms"]), 24, 80);
    let pid = jvm.pid.to_string();
    screen.until("the JVM", |text| text.contains(&pid));
    screen.hang_up();
    assert!(!screen.end().success());
}

#[test]
fn one_frame() {
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
    assert_eq!(jvm.ask("attach", &["core=64k"]).0, Some(0));
    status(&jvm, |status| status["total"]["refills"].as_u64().is_some_and(|count| count > 10));
    let pid = jvm.pid.to_string();
    let frame = output(&["top", &pid, "--once", "--refresh", "300ms"]);
    let text = stdout(&frame);
    assert!(frame.status.success(), "{}", stderr(&frame));
    for part in ["1 JVM, 1 with terrace", &pid, " on ", "core"] {
        assert!(text.contains(part), "'{part}' in\n{text}");
    }
    let until = Instant::now() + PATIENCE;
    loop {
        let json = output(&["top", &pid, "--format", "json", "--refresh", "300ms"]);
        let json: serde_json::Value = serde_json::from_str(&stdout(&json)).unwrap();
        let shown = &json["jvms"][0];
        assert_eq!((&shown["buffers"], &shown["is_estimate"]), (&"on".into(), &false.into()));
        // On a busy machine it may have no turn between the two looks.
        if shown["tlabs"].as_f64().unwrap() > 0.0 {
            break;
        }
        assert!(Instant::now() < until, "{json}");
    }
}

#[test]
fn what_an_agent_counts_is_exported() {
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
    let pid = jvm.pid.to_string();
    let stock = output(&["export", &pid]);
    assert!(stderr(&stock).contains("is a JVM without terrace") && !stock.status.success(), "{stock:?}");
    assert_eq!(jvm.ask("attach", &["core=64k"]).0, Some(0));
    status(&jvm, |status| status["total"]["refills"].as_u64().is_some_and(|count| count > 10));

    let label = format!("terrace_buffer_refills_total{{process_pid=\"{pid}\"");
    let sum = |text: &str| -> u64 {
        let of = text.lines().filter(|line| line.starts_with(&label));
        of.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    };
    let text = stdout(&output(&["export", &pid, "--prometheus"]));
    assert!(sum(&text) > 10, "{text}");
    let line = stdout(&output(&["export", "--otlp"]));
    let told: serde_json::Value = serde_json::from_str(&line).unwrap();
    let of =
        |resource: &serde_json::Value| resource["resource"]["attributes"][0]["value"]["intValue"] == *pid;
    assert!(told["resourceMetrics"].as_array().unwrap().iter().any(of), "{told}");

    // For node_exporter: again and again.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("terrace.prom");
    let file = file.to_str().unwrap();
    let mut exporter =
        installed::terrace(&["export", &pid, "--out", file, "--every", "100ms"]).spawn().unwrap();
    let later = loop {
        assert!(exporter.try_wait().unwrap().is_none(), "it has ended");
        let written = sum(&std::fs::read_to_string(file).unwrap_or_default());
        if written > sum(&text) {
            break written;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    exporter.kill().unwrap();
    exporter.wait().unwrap();
    assert!(later > sum(&text));
}

#[test]
fn exporting_goes_on_until_the_last_jvm_has_ended() {
    let Some(one) = Jvm::start(&[], &[]) else { return };
    let two = Jvm::start(&[], &[]).unwrap();
    for jvm in [&one, &two] {
        assert_eq!(jvm.ask("attach", &["core=64k"]).0, Some(0));
    }
    let (first, second) = (one.pid.to_string(), two.pid.to_string());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("terrace.prom");
    let words = ["export", &first, &second, "--out", file.to_str().unwrap(), "--every", "100ms"];
    let mut exporter = installed::terrace(&words).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let until = std::time::Instant::now() + installed::PATIENCE;
    let mut shows = |wanted: [bool; 2]| {
        let has = |text: &str, pid: &str| text.contains(&format!("process_pid=\"{pid}\""));
        while !std::fs::read_to_string(&file)
            .is_ok_and(|text| [has(&text, &first), has(&text, &second)] == wanted)
        {
            assert!(std::time::Instant::now() < until);
            assert!(exporter.try_wait().unwrap().is_none(), "it has ended");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    shows([true, true]);
    drop(one);
    shows([false, true]);
    drop(two);
    let ended = exporter.wait_with_output().unwrap();
    assert!(ended.status.success() && stderr(&ended).is_empty(), "{ended:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "");
}

#[test]
fn mistakes() {
    for (words, part) in [
        (&["top"][..], "not a terminal; use --once to print one frame"),
        (&["top", "--once", "1073741822"], "no such process"),
        (&["top", "--once", "--sort", "age"], "unknown column 'age'; choose one of allocated"),
        (&["top", "--refresh", "0"], "--refresh"),
        (&["export", "1073741822"], "no such process"),
        (&["export", "--otlp", "--prometheus"], "cannot be used with"),
        (&["export", "--every", "5s"], "--out"),
    ] {
        let refused = output(words);
        let line = stderr(&refused);
        assert!(!refused.status.success() && line.contains(part) && line.lines().count() == 1, "{line}");
    }
}
