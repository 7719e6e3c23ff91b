//! JVMs that know nothing of terrace, and commands of ours for them.
#![allow(dead_code, reason = "each test binary uses its part")]

use crate::installed::{Busy, PATIENCE, installed, jar, java, output, status_of, stderr, stdout};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Commands of ours for a JVM, and what came of them.
pub struct Jvm {
    pub busy: Busy,
    pub pid: u32,
}

impl Jvm {
    /// A JVM without terrace that allocates in small TLABs, by way of `before` (as `unshare`, whose descendant it then is).
    pub fn start(before: &[&str], flags: &[&str]) -> Option<Jvm> {
        Jvm::launch(before, &[&["-XX:+EnableDynamicAgentLoading"], flags].concat())
    }

    /// One that has not been told that an agent may come.
    pub fn launch(before: &[&str], flags: &[&str]) -> Option<Jvm> {
        let folder = installed()?;
        let (java, jar) = (java(), jar(&folder));
        // The buffers of a hundred cores fit, each with several TLABs.
        let program = [java.as_str(), "-Xmx64m", "-Xmn32m", "-XX:TLABSize=4k", "-XX:-ResizeTLAB"];
        let words = [before, &program, flags, &["-jar", &jar, "alloc", "--threads", "1", "--seconds", "600"]];
        let words = words.concat();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env_remove("JAVA_TOOL_OPTIONS").stdin(Stdio::null());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pid = the_jvm(child.id());
        Some(Jvm { busy: Busy(child), pid })
    }

    /// A JVM that is asked too early, or is too busy, says so.
    pub fn ask(&self, command: &str, options: &[&str]) -> (Option<i32>, String) {
        let until = Instant::now() + PATIENCE;
        loop {
            let answer = output(&[&[command, &self.pid.to_string()], options].concat());
            let said = stdout(&answer) + &stderr(&answer);
            if !said.contains("try again") || Instant::now() > until {
                return (answer.status.code(), said);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What of ours lies in the /tmp that it sees.
    pub fn left_in_tmp(&self) -> Vec<String> {
        let left = std::fs::read_dir(format!("/proc/{}/root/tmp", self.pid)).unwrap();
        let names = left.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("terrace")).collect()
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        // What is between us and it does not take it along: a change of user clears that wish.
        jvm::os::signal(self.pid, 9);
    }
}

/// The process at the end of a chain of children, as soon as it is a JVM.
///
/// Each look begins at the top: a child seen before may have been a command of the shell's that has ended.
pub fn the_jvm(top: u32) -> u32 {
    let until = Instant::now() + PATIENCE;
    let read = |path: String| std::fs::read_to_string(path).unwrap_or_default();
    loop {
        let mut pid = top;
        while let Some(child) = read(format!("/proc/{pid}/task/{pid}/children")).split_whitespace().next() {
            pid = child.parse().unwrap();
        }
        let maps = read(format!("/proc/{pid}/maps"));
        if maps.lines().any(|line| line.contains(" r-xp ") && line.ends_with("/libjvm.so")) {
            return pid;
        }
        assert!(Instant::now() < until, "no JVM below");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What the counters say, as soon as `ready` is content.
pub fn status(jvm: &Jvm, ready: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
    status_of(jvm.pid, ready)
}

/// A JVM of another user in other mount and PID namespaces, as in a container. Only root makes them.
pub fn container() -> Option<Jvm> {
    let setting =
        "mount -t tmpfs none /tmp && cd / && exec setpriv --reuid 4711 --regid 4711 --clear-groups \"$@\"";
    isolated(&["unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", setting, "sh"])
}

/// The same in a user namespace as well: the user is root there, and root is nobody. What the JVM prints is in its `/tmp/printed`.
pub fn rootless() -> Option<Jvm> {
    let setting = "mount -t tmpfs none /tmp && cd / && exec \"$@\" > /tmp/printed 2>&1";
    let namespaces = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"];
    isolated(&[&ANOTHER_USER[..], &namespaces, &["sh", "-c", setting, "sh"]].concat())
}

/// A JVM of another user, who sees the same files. Only root makes one.
pub fn of_another_user() -> Option<Jvm> {
    isolated(&ANOTHER_USER)
}

const ANOTHER_USER: [&str; 6] = ["setpriv", "--reuid", "4711", "--regid", "4711", "--clear-groups"];

fn isolated(before: &[&str]) -> Option<Jvm> {
    if jvm::os::user() != 0 {
        skips::skip!("namespaces and another user: only root makes them");
        return None;
    }
    let works = Command::new(before[0]).args(&before[1..]).arg("true").stderr(Stdio::null()).status();
    if !works.is_ok_and(|status| status.success()) {
        skips::skip!("namespaces and another user: unshare, mount and setpriv are not allowed or not there");
        return None;
    }
    // The programs of this test may lie where only root looks.
    let readable = |path: &str| {
        let mut command = Command::new(ANOTHER_USER[0]);
        command.args(&ANOTHER_USER[1..]).args(["test", "-r", path]);
        command.status().is_ok_and(|status| status.success())
    };
    let folder = installed()?;
    if !readable(&java()) || !readable(&jar(&folder)) || jar(&folder).starts_with("/tmp/") {
        skips::skip!("namespaces and another user: java or the workloads lie where another user cannot read");
        return None;
    }
    Jvm::start(before, &[])
}
