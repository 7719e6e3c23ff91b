//! A test that this machine cannot run says so by name, and the name is seen.
//!
//! The test harness swallows what a passing test prints, and a test that was skipped passes. So a skip is a line in the file that
//! [`FILE`] names, which `cargo xtask test` prints at its end; without one it is a line on standard error.

#![allow(missing_docs, reason = "not published")]

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// The environment variable that names the file.
pub const FILE: &str = "TERRACE_SKIPS";

/// Skips the test that runs, or a part of it: the arguments are those of `format!`, and say what is missing and how to get it.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)*) => {
        $crate::note(env!("CARGO_PKG_NAME"), &$crate::running(module_path!()), format_args!($($reason)*))
    };
}

/// The test on this thread: the harness names threads so. On a thread of a test's own it is the module.
pub fn running(module: &str) -> String {
    let thread = std::thread::current();
    thread.name().filter(|name| *name != "main").unwrap_or(module).to_owned()
}

/// Notes that a test of a package was skipped.
pub fn note(package: &str, test: &str, reason: impl Display) {
    match std::env::var_os(FILE) {
        Some(file) => note_in(Path::new(&file), package, test, reason),
        None => eprint!("skipped: {}", line(package, test, reason)),
    }
}

/// The same, in this file.
pub fn note_in(file: &Path, package: &str, test: &str, reason: impl Display) {
    let line = line(package, test, reason);
    if let Err(error) = append(file, &line) {
        eprint!("{}: {error}; skipped: {line}", file.display());
    }
}

/// Skips have one line each, whatever the reason is.
fn line(package: &str, test: &str, reason: impl Display) -> String {
    let reason = reason.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{package} {test}: {reason}\n")
}

/// In one piece, because tests run at the same time.
fn append(file: &Path, line: &str) -> std::io::Result<()> {
    OpenOptions::new().append(true).create(true).open(file)?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_one_line_with_the_name_of_its_test() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("skips");
        let name = running(module_path!());
        append(&file, &line("terrace-skips", &name, "no such\n  thing")).unwrap();
        append(&file, &line("terrace-skips", "other", 5)).unwrap();
        let all = std::fs::read_to_string(&file).unwrap();
        let test = "tests::a_skip_is_one_line_with_the_name_of_its_test";
        // With one thread the harness runs tests on its own, which has another name.
        assert!(
            [test, "skips::tests"]
                .map(|name| format!("terrace-skips {name}: no such thing\nterrace-skips other: 5\n"))
                .contains(&all),
            "{all}"
        );
    }
}
