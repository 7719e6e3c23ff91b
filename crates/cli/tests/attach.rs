//! `terrace attach`, `on`, `off` and `set` with real JVMs.

#[path = "common/real.rs"]
mod installed;

use installed::{Busy, installed, jar, java, output, stderr, stdout};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Commands of ours for a JVM, and what came of them.
struct Jvm {
    busy: Busy,
    pid: u32,
}

impl Jvm {
    /// A JVM without terrace that allocates in small TLABs, by way of `before` (as `unshare`, whose descendant it then is).
    fn start(before: &[&str], flags: &[&str]) -> Option<Jvm> {
        let folder = installed()?;
        let (java, jar) = (java(), jar(&folder));
        let program = [
            java.as_str(),
            "-Xmx64m",
            "-XX:+EnableDynamicAgentLoading",
            "-XX:TLABSize=4k",
            "-XX:-ResizeTLAB",
        ];
        let words = [before, &program, flags, &["-jar", &jar, "alloc", "--threads", "1", "--seconds", "600"]];
        let words = words.concat();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env_remove("JAVA_TOOL_OPTIONS").stdin(Stdio::null());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pid = the_jvm(child.id());
        Some(Jvm { busy: Busy(child), pid })
    }

    /// A JVM that is asked too early, or is too busy, says so.
    fn ask(&self, command: &str, options: &[&str]) -> (Option<i32>, String) {
        let until = Instant::now() + Duration::from_secs(120);
        loop {
            let answer = output(&[&[command, &self.pid.to_string()], options].concat());
            let said = stdout(&answer) + &stderr(&answer);
            if !said.contains("try again") || Instant::now() > until {
                return (answer.status.code(), said);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        // What is between us and it does not take it along: a change of user clears that wish.
        jvm::os::signal(self.pid, 9);
    }
}

/// The process at the end of a chain of children, as soon as it is a JVM.
fn the_jvm(mut pid: u32) -> u32 {
    let until = Instant::now() + Duration::from_secs(120);
    loop {
        let children =
            std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        match children.split_whitespace().next() {
            Some(child) => pid = child.parse().unwrap(),
            None if maps.contains("libjvm.so") => return pid,
            None => {}
        }
        assert!(Instant::now() < until, "no JVM below");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What the counters say, as soon as `ready` is content.
fn status(jvm: &Jvm, ready: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
    jvm.busy.status_of(jvm.pid, ready)
}

#[test]
fn buffers_come_into_a_running_jvm_and_are_switched() {
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
    let (code, said) = jvm.ask("attach", &["core=64k"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("installed") && said.contains("core_bytes 65536"), "{said}");
    status(&jvm, |status| status["total"]["refills"].as_u64().is_some_and(|count| count > 10));

    let (code, said) = jvm.ask("attach", &[]);
    assert!(code == Some(1) && said.contains("has terrace already"), "{said}");

    assert_eq!(jvm.ask("off", &[]), (Some(0), "buffers off\n".into()));
    assert_eq!(jvm.ask("off", &[]), (Some(0), "buffers off, as before\n".into()));
    let passed = |status: &serde_json::Value| status["total"]["passed"].as_u64().unwrap();
    let before = passed(&status(&jvm, |status| status["mode"] == "off"));
    status(&jvm, |status| passed(status) > before + 10);
    assert_eq!(jvm.ask("on", &[]), (Some(0), "buffers on\n".into()));
    assert_eq!(status(&jvm, |_| true)["mode"], "on");
}

#[test]
fn an_observer_is_withdrawn_or_makes_way() {
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
    let (code, said) = jvm.ask("attach", &["levels=none", "times=true"]);
    assert!(code == Some(0) && said.contains("observing"), "{said}");
    let (code, said) = jvm.ask("on", &[]);
    assert!(code == Some(1) && said.contains("only counts"), "{said}");
    let (code, said) = jvm.ask("set", &["core=64k"]);
    assert!(code == Some(1) && said.contains("only counts"), "{said}");
    status(&jvm, |status| status["times"]["tlabs"]["all"]["count"].as_u64().is_some_and(|count| count > 10));

    assert_eq!(jvm.ask("off", &[]), (Some(0), "observer withdrawn\n".into()));
    assert_eq!(status(&jvm, |_| true)["state"], "withdrawn");
    let (code, said) = jvm.ask("off", &[]);
    assert!(code == Some(1) && said.contains("its observer has withdrawn; 'terrace attach"), "{said}");
    let (code, said) = jvm.ask("attach", &["levels=none"]);
    assert!(code == Some(0) && said.contains("observing"), "{said}");
    let (code, said) = jvm.ask("attach", &["core=64k"]);
    assert!(code == Some(0) && said.contains("withdrawn first") && said.contains("installed"), "{said}");
    status(&jvm, |status| status["total"]["refills"].as_u64().is_some_and(|count| count > 10));
}

#[test]
fn sizes_are_set() {
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
    assert_eq!(jvm.ask("attach", &["core=64k"]).0, Some(0));
    status(&jvm, |status| status["total"]["refills"].as_u64().is_some_and(|count| count > 10));
    assert_eq!(jvm.ask("set", &["core=32k"]), (Some(0), "core buffers 32k, before 64k\n".into()));
    let shown = status(&jvm, |_| true);
    assert_eq!(
        (&shown["settings"]["core_bytes"], &shown["settings"]["automatic"]),
        (&32768.into(), &false.into())
    );
    let (code, said) = jvm.ask("set", &["core=1g"]);
    assert!(code == Some(0) && said.contains("(1g is more than this heap bears"), "{said}");
    let (code, said) = jvm.ask("set", &["core=auto"]);
    assert!(code == Some(0) && said.contains("(automatic)"), "{said}");
    for (words, code, remedy) in [
        (&["processor=1m"][..], 1, "has no processor buffers (levels=core)"),
        (&["core=65537"], 2, "use a multiple of ObjectAlignmentInBytes=8"),
    ] {
        let (found, said) = jvm.ask("set", words);
        assert!(
            found == Some(code) && said.contains(remedy) && said.lines().count() == 1,
            "{words:?}: {said}"
        );
    }
}

#[test]
fn what_the_agent_refuses_is_told_with_its_reason() {
    let Some(jvm) = Jvm::start(&[], &["-XX:+UseZGC"]) else { return };
    let (code, said) = jvm.ask("attach", &[]);
    assert!(code == Some(1) && said.contains("ZGC already allocates from per-CPU pages"), "{said}");
}

#[test]
fn a_jvm_that_does_not_attach_says_how_it_was_started() {
    let Some(jvm) = Jvm::start(&[], &["-XX:+DisableAttachMechanism"]) else { return };
    let (code, said) = jvm.ask("attach", &[]);
    assert!(code == Some(1) && said.contains("-XX:+DisableAttachMechanism"), "{said}");
}

#[test]
fn a_container_of_another_user() {
    if jvm::os::user() != 0 {
        return skips::skip!("namespaces and another user: only root makes them");
    }
    let setting =
        "mount -t tmpfs none /tmp && cd / && exec setpriv --reuid 4711 --regid 4711 --clear-groups \"$@\"";
    let before = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", setting, "sh"];
    let works = Command::new(before[0]).args(&before[1..]).arg("true").stderr(Stdio::null()).status();
    if !works.is_ok_and(|status| status.success()) {
        return skips::skip!(
            "namespaces and another user: unshare, mount and setpriv are not allowed or not there"
        );
    }
    // The programs of this test may lie where only root looks.
    let readable = |path: &str| {
        Command::new("setpriv")
            .args(["--reuid", "4711", "--regid", "4711", "--clear-groups", "test", "-r", path])
            .status()
            .is_ok_and(|status| status.success())
    };
    let Some(folder) = installed() else { return };
    if !readable(&java()) || !readable(&jar(&folder)) || jar(&folder).starts_with("/tmp/") {
        return skips::skip!(
            "namespaces and another user: java or the workloads lie where another user cannot read"
        );
    }
    let Some(jvm) = Jvm::start(&before, &[]) else { return };
    // Its library is a copy that is gone by then.
    assert_eq!(jvm.ask("attach", &["levels=none"]).0, Some(0));
    assert_eq!(jvm.ask("off", &[]), (Some(0), "observer withdrawn\n".into()));
    let (code, said) = jvm.ask("attach", &["core=64k"]);
    assert!(code == Some(0) && said.contains("installed"), "{said}");
    let left = std::fs::read_dir(format!("/proc/{}/root/tmp", jvm.pid)).unwrap();
    let left: Vec<_> = left.flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("terrace")), "{left:?}");
    status(&jvm, |status| status["total"]["refills"].as_u64().is_some_and(|count| count > 10));
    assert_eq!(jvm.ask("off", &[]).0, Some(0));
}

#[test]
fn mistakes() {
    let us = std::process::id().to_string();
    for (words, code, remedy) in [
        (&["attach", "1073741822"][..], 1, "no such process"),
        (&["attach", us.as_str()], 1, "is not a JVM"),
        (&["off", us.as_str()], 1, "is not a JVM"),
        (&["attach", us.as_str(), "cores=1"], 2, "use levels, core"),
        (&["attach", us.as_str(), "core"], 2, "write key=value"),
        (&["attach"], 2, "PID"),
        (&["set", us.as_str(), "core=64k"], 1, "is not a JVM"),
        (&["set", us.as_str(), "tlab=2k"], 2, "write core=SIZE"),
        (&["set", us.as_str()], 2, "LEVEL=SIZE"),
    ] {
        let answer = output(words);
        assert_eq!(answer.status.code(), Some(code), "{words:?}");
        assert!(stderr(&answer).contains(remedy), "{words:?}: {}", stderr(&answer));
        assert_eq!(stderr(&answer).lines().count(), 1, "{}", stderr(&answer));
    }
}
