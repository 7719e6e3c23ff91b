//! Faults in C that AddressSanitizer and Valgrind have to report of the libraries that are built for them, and a program of which they must
//! not. The compiler's own AddressSanitizer, with both libraries.
#![cfg(all(feature = "asan", feature = "memcheck"))]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FAULTS: [&str; 6] = ["reset", "destroy", "checkpoint", "end", "free", "shrink"];
/// Thread buffers and core buffers, by their numbers in `terrace_path`.
const PATHS: [&str; 2] = ["1", "2"];

fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Builds the libraries with both features, in a folder of their own, which it gives.
fn libraries() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().join("watched");
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--profile", "checked", "-p", "terrace-arena-c"]);
    command.args(["--features", "asan,memcheck", "--target-dir"]).arg(&target);
    assert!(command.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap().success());
    target.join("checked")
}

fn compile(libraries: &Path, program: &Path, flags: &[&str], is_static: bool) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new("cc");
    command.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-g", "-O1"]).args(flags);
    command.arg("-I").arg(here.join("include")).arg(here.join("tests/faults.c")).arg("-o").arg(program);
    if is_static {
        command.arg(libraries.join("libterrace_arena.a")).args(["-lpthread", "-ldl", "-lm", "-lgcc_s"]);
    } else {
        command.arg("-L").arg(libraries).args(["-lterrace_arena", "-lpthread"]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Every fault has a report with `report` in it after what was right, and the right program none.
fn holds(run: impl Fn(&[&str]) -> Output, report: &str) {
    for path in PATHS {
        for fault in FAULTS {
            let output = run(&[fault, path]);
            let text = String::from_utf8_lossy(&output.stderr);
            let (before, after) = text.split_once("so far right").unwrap();
            assert!(
                !before.contains("==") && after.contains(report) && !output.status.success(),
                "{fault} on path {path}: {text}"
            );
        }
        let output = run(&["right", path]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn faults_in_c_are_reported_and_nothing_else_is() {
    if !works(Command::new("cc").arg("--version")) {
        return skips::skip!("no C compiler 'cc' on PATH");
    }
    let folder = tempfile::tempdir().unwrap();
    let libraries = libraries();
    std::os::unix::fs::symlink(
        libraries.join("libterrace_arena.so"),
        folder.path().join("libterrace_arena.so.0"),
    )
    .unwrap();
    let program = folder.path().join("faults");
    let command = |mut command: Command, arguments: &[&str]| {
        // Names take AddressSanitizer a second for each report.
        command.env("LD_LIBRARY_PATH", folder.path()).env("ASAN_OPTIONS", "symbolize=0");
        command.args(arguments).output().unwrap()
    };
    let empty = folder.path().join("empty.c");
    std::fs::write(&empty, "int main(void) { return 0; }").unwrap();
    let mut cc = Command::new("cc");
    if works(cc.arg("-fsanitize=address").arg(empty).arg("-o").arg(&program)) {
        for is_static in [true, false] {
            compile(&libraries, &program, &["-fsanitize=address"], is_static);
            holds(
                |arguments| command(Command::new(&program), arguments),
                "AddressSanitizer: use-after-poison",
            );
        }
    } else {
        skips::skip!("AddressSanitizer in C: 'cc -fsanitize=address' links nothing (apt install gcc)");
    }
    compile(&libraries, &program, &[], true);
    // Without a tool the same program runs, and nobody is told anything.
    assert!(command(Command::new(&program), &["right", "1"]).status.success());
    if works(Command::new("valgrind").arg("--version")) {
        let run = |arguments: &[&str]| {
            let mut valgrind = Command::new("valgrind");
            valgrind.args(["--quiet", "--error-exitcode=1"]).arg(&program);
            command(valgrind, arguments)
        };
        holds(run, "Invalid ");
    } else {
        skips::skip!("memcheck: no valgrind on PATH (apt install valgrind)");
    }
}
