//! The command as it is installed, and JVMs for it.
#![allow(dead_code, reason = "each test binary uses its part")]

#[path = "interruptible.rs"]
mod interruptible;

use interruptible::interruptible;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What is awaited comes much sooner, also on a machine with ten times as much to do.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// The folder with the agent and the workloads, or the reason for skipping.
pub fn installed() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_BIN_EXE_terrace")).parent()?.to_owned();
    let missing =
        ["libterrace.so", "terrace-workloads.jar"].into_iter().find(|name| !folder.join(name).is_file());
    if let Some(missing) = missing {
        skips::skip!("{missing} is not beside the command; run cargo xtask build");
        return None;
    }
    if jvm::jdk::newest().is_err() {
        skips::skip!("no JDK found");
        return None;
    }
    Some(folder)
}

pub fn terrace(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_terrace"));
    command.args(arguments).env_remove("JAVA_TOOL_OPTIONS").env_remove("TERRACE_HOME").stdin(Stdio::null());
    interruptible(command)
}

pub fn output(arguments: &[&str]) -> Output {
    terrace(arguments).output().unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn java() -> String {
    jvm::jdk::newest().unwrap().java().to_str().unwrap().to_owned()
}

pub fn jar(folder: &Path) -> String {
    folder.join("terrace-workloads.jar").to_str().unwrap().to_owned()
}

/// A JVM that allocates for a while, ended when dropped.
pub struct Busy(pub Child);

impl Busy {
    pub fn start(words: &[&str]) -> Busy {
        Busy(terrace(words).stdout(Stdio::null()).spawn().unwrap())
    }

    /// Asks for the status until `ready` is content with it.
    pub fn status(&self, ready: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        status_of(self.0.id(), ready)
    }
}

/// The same of any process.
pub fn status_of(pid: u32, ready: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
    let pid = pid.to_string();
    let until = Instant::now() + PATIENCE;
    loop {
        let answer = output(&["status", &pid, "--format", "json"]);
        if let Ok(status) = serde_json::from_slice::<serde_json::Value>(&answer.stdout)
            && ready(&status)
        {
            return status;
        }
        assert!(Instant::now() < until, "no such status: {}{}", stdout(&answer), stderr(&answer));
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
