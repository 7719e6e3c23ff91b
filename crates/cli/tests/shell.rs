//! What a release brings along for shells and `man`.

mod common;

use common::{Home, shown};
use std::process::Command;

#[test]
fn completions_know_the_commands_and_their_options() {
    let home = Home::new("exit 0");
    for shell in ["bash", "zsh", "fish"] {
        let script = shown(&home.terrace(&["completions", shell]).output().unwrap());
        for word in ["compare", "doctor", "jvm-arg"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
        // Read by the shell itself, where there is one.
        let file = home.script(&format!("completions.{shell}"), &script);
        match Command::new(shell).arg("-n").arg(&file).output() {
            Ok(output) => assert!(output.status.success(), "{shell}: {output:?}"),
            Err(_) => skips::skip!("{shell} is not installed: its completions were not read by it"),
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let home = Home::new("exit 0");
    let folder = tempfile::tempdir().unwrap();
    let output = home.terrace(&["manual", "--out", folder.path().to_str().unwrap()]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    for page in ["terrace.1", "terrace-run.1", "terrace-compare.1", "terrace-lab-run.1"] {
        let text = std::fs::read_to_string(folder.path().join(page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS") && text.contains("Examples:"), "{page}: {text}");
    }
}

#[test]
fn the_version_names_the_jdks() {
    let home = Home::new("exit 0");
    let long = shown(&home.terrace(&["--version"]).output().unwrap());
    assert!(long.starts_with("terrace 0.") && long.contains("JDK 11, 17, 21"), "{long}");
    assert_eq!(shown(&home.terrace(&["-V"]).output().unwrap()).lines().count(), 1);
}
