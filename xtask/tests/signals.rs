//! `cargo xtask` stopped by a signal that reaches it alone, as `kill` and `docker stop` send it: what it runs ends with it, and no step
//! follows.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// The exit code of whoever was stopped by SIGTERM.
const STOPPED: i32 = 128 + jvm::os::TERMINATE;

/// `cargo xtask` with a script in cargo's place, in a folder of its own.
struct Started {
    folder: tempfile::TempDir,
    xtask: Child,
}

impl Started {
    /// The script tells that it runs by a file `running`.
    fn new(words: &[&str], script: &str) -> Started {
        let folder = tempfile::tempdir().unwrap();
        let cargo = folder.path().join("cargo");
        // Another process writes what will be started: a descriptor of ours, inherited by a fork in another test's thread, would make it "busy".
        let draft = folder.path().join("draft");
        std::fs::write(&draft, format!("#!/bin/sh\nhere=${{0%/*}}\n{script}\n")).unwrap();
        assert!(Command::new("cp").args([&draft, &cargo]).status().unwrap().success());
        std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"));
        xtask.args(words).env("CARGO", &cargo).stdin(Stdio::null()).stdout(Stdio::null());
        let xtask = xtask.stderr(std::fs::File::create(folder.path().join("said")).unwrap()).spawn().unwrap();
        Started { folder, xtask }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Waits for a file that the script writes; what is in it.
    fn written(&mut self, name: &str) -> String {
        loop {
            // A whole line: the shell opens the file before it writes.
            let text = std::fs::read_to_string(self.file(name)).unwrap_or_default();
            if text.ends_with('\n') {
                return text.trim().to_owned();
            }
            assert!(self.xtask.try_wait().unwrap().is_none(), "it ended: {}", self.said());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.file("said")).unwrap_or_default()
    }

    fn stop(&mut self) -> ExitStatus {
        jvm::os::signal(self.xtask.id(), jvm::os::TERMINATE);
        self.xtask.wait().unwrap()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.xtask.kill();
        let _ = self.xtask.wait();
    }
}

fn is_running(pid: &str) -> bool {
    jvm::os::is_running(pid.parse().unwrap())
}

#[test]
fn what_a_program_started_ends_with_it() {
    let script = "sleep 600 &\necho $! > \"$here/below\"\necho $$ > \"$here/running\"\nwait";
    let mut started = Started::new(&["bench", "arena"], script);
    let (cargo, below) = (started.written("running"), started.written("below"));
    let status = started.stop();
    assert_eq!((status.code(), status.signal()), (Some(STOPPED), None), "{}", started.said());
    // Nobody waits for it but the system, which takes its time.
    while is_running(&below) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!is_running(&cargo));
}

#[test]
fn no_step_follows_a_program_that_ended_well_in_spite_of_the_signal() {
    let script = "trap 'exit 0' TERM\necho $$ >> \"$here/running\"\nwhile :; do sleep 0.01; done";
    let mut started = Started::new(&["build"], script);
    let first = started.written("running");
    let status = started.stop();
    assert_eq!(status.code(), Some(STOPPED), "{}", started.said());
    assert!(started.said().contains("stopped by a signal"), "{}", started.said());
    let all = std::fs::read_to_string(started.file("running")).unwrap();
    assert_eq!(all.trim(), first);
}
