//! Faults that tools have to report of an arena that is built for them, and a program of which they must not: each in a process of its own,
//! under Valgrind with the feature `memcheck`, and under AddressSanitizer where the test is built with it and with the feature `asan`.
#![cfg(any(feature = "asan", feature = "memcheck"))]

mod faults;

use arena::Arena;
use faults::{FAULTS, Fault, OF_VALUES, PATHS};
use std::process::{Command, Output};

const CASE: &str = "TERRACE_TEST_FAULT";
const RIGHT: &str = "nothing wrong";
/// What the tools' reports begin with.
const REPORTS: [&str; 2] = ["ERROR: AddressSanitizer: use-after-poison", "== Invalid "];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    AddressSanitizer,
    Memcheck,
}

impl Tool {
    fn program(self) -> Command {
        let me = std::env::current_exe().unwrap();
        let Tool::Memcheck = self else { return Command::new(me) };
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--error-exitcode=1", "--leak-check=full"]);
        command.args(["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]).arg(me);
        command
    }

    /// Commits a fault, in a process of its own.
    fn run(self, fault: &str, path: usize) -> Output {
        let mut command = self.program();
        command.args(["--exact", "commits_what_it_is_told", "--nocapture", "--test-threads=1"]);
        // Names take AddressSanitizer a second for each report.
        command.env("ASAN_OPTIONS", "symbolize=0");
        command.env(CASE, format!("{path} {fault}")).output().unwrap()
    }

    fn reports(self, (fault, _): Fault, path: usize, report: &str) {
        let output = self.run(fault, path);
        let text = String::from_utf8_lossy(&output.stderr);
        // Valgrind goes on after an error: the first one counts.
        let right = text.find("so far right").unwrap_or(0);
        let found = text.find(report);
        assert!(
            found.is_some_and(|at| at >= right) && !output.status.success(),
            "{self:?} does not report {fault}, {:?}: {}\n{text}",
            PATHS[path],
            output.status
        );
    }
}

/// The tools that can be used.
fn tools() -> Vec<Tool> {
    let mut tools = Vec::new();
    if cfg!(feature = "asan")
        && option_env!("RUSTFLAGS").is_some_and(|flags| flags.contains("sanitizer=address"))
    {
        tools.push(Tool::AddressSanitizer);
    }
    let has_valgrind =
        || Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success());
    if cfg!(feature = "memcheck") && has_valgrind() {
        tools.push(Tool::Memcheck);
    }
    if tools.is_empty() {
        skips::skip!("no valgrind (apt install valgrind), and not built with RUSTFLAGS=-Zsanitizer=address");
    }
    tools
}

#[test]
fn commits_what_it_is_told() {
    let Ok(case) = std::env::var(CASE) else { return };
    let (path, name) = case.split_once(' ').unwrap();
    let builder = Arena::builder().path(PATHS[path.parse::<usize>().unwrap()]);
    match FAULTS.iter().chain(&OF_VALUES).find(|(fault, _)| *fault == name) {
        Some((_, commit)) => commit(builder),
        None => faults::right(),
    }
}

#[test]
fn what_is_right_is_not_reported() {
    for tool in tools() {
        let output = tool.run(RIGHT, 0);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !text.contains("=="), "{tool:?}: {}\n{text}", output.status);
    }
}

#[test]
fn every_fault_is_reported() {
    for tool in tools() {
        for (number, fault) in FAULTS.into_iter().enumerate() {
            // Valgrind takes a second for each: it meets one path of each fault.
            for path in 0..PATHS.len() {
                if tool == Tool::AddressSanitizer || number % PATHS.len() == path {
                    tool.reports(fault, path, REPORTS[tool as usize]);
                }
            }
        }
    }
}

#[test]
fn memcheck_knows_what_was_written_and_what_is_lost() {
    if tools().contains(&Tool::Memcheck) {
        let [undefined, lost] = OF_VALUES;
        Tool::Memcheck.reports(undefined, 1, "depends on uninitialised value");
        Tool::Memcheck.reports(lost, 2, "definitely lost");
    }
}
