//! The command where the agent cannot be loaded, or a JVM cannot be asked: one line with the remedy, and the application runs.

#[path = "common/real.rs"]
mod installed;
#[path = "common/jvm.rs"]
mod running;

use installed::{installed, jar, java, stderr, terrace};
use running::Jvm;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A home whose agent is the installed one, changed.
fn home(change: impl Fn(&mut [u8])) -> Option<TempDir> {
    let folder = installed()?;
    let home = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(&folder).unwrap().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "jar") {
            std::os::unix::fs::symlink(entry.path(), home.path().join(entry.file_name())).unwrap();
        }
    }
    let mut library = std::fs::read(folder.join("libterrace.so")).unwrap();
    change(&mut library);
    std::fs::write(home.path().join("libterrace.so"), library).unwrap();
    Some(home)
}

/// `e_machine` of another architecture.
fn other_architecture(library: &mut [u8]) {
    let other: u16 = if cfg!(target_arch = "x86_64") { 183 } else { 62 };
    library[18..20].copy_from_slice(&other.to_le_bytes());
}

/// Needs a glibc 2.99 wherever it needed another.
fn newer_glibc(library: &mut [u8]) {
    let name = b"GLIBC_2.";
    let found: Vec<usize> = (0..library.len() - 11)
        .filter(|at| {
            library[*at..].starts_with(name) && library[at + 8].is_ascii_digit() && library[at + 10] == 0
        })
        .collect();
    assert!(!found.is_empty(), "the agent needs symbols of glibc");
    for at in found {
        library[at + 8..at + 10].copy_from_slice(b"99");
    }
}

fn with(home: &Path, arguments: &[&str]) -> Output {
    terrace(arguments).env("TERRACE_HOME", home).output().unwrap()
}

fn ours(output: &Output) -> Vec<String> {
    stderr(output).lines().filter(|line| line.starts_with("terrace:")).map(str::to_owned).collect()
}

/// One line that says why, and the application's own words behind it.
fn assert_runs_without(output: &Output, why: &str, remedy: &str) {
    let lines = ours(output);
    assert_eq!(lines.len(), 1, "{}", stderr(output));
    for part in ["starting without terrace", why, remedy] {
        assert!(lines[0].contains(part), "'{part}' in {}", lines[0]);
    }
    assert!(output.status.success() && stderr(output).contains("version \""), "{}", stderr(output));
}

/// What is refused is refused before anything is measured, in one line.
fn assert_refused(output: &Output, why: &str) {
    let lines = ours(output);
    assert!(!output.status.success() && lines.len() == 1, "{}", stderr(output));
    assert!(lines[0].contains(why) && !stderr(output).contains("version \""), "{}", stderr(output));
}

fn unloadable(change: impl Fn(&mut [u8]), why: &str, remedy: &str) {
    let Some(home) = home(change) else { return };
    let java = java();
    assert_runs_without(&with(home.path(), &["run", "--", &java, "-version"]), why, remedy);
    let script = ["run", "--", "/bin/sh", "-c", "exec \"$0\" -version", &java];
    assert_runs_without(&with(home.path(), &script), why, remedy);
    assert_refused(&with(home.path(), &["run", "--strict", "--", &java, "-version"]), why);
    assert_refused(&with(home.path(), &["compare", "--", &java, "-version"]), why);
    examined_without(home.path(), &[], &[why, remedy]);
    examined_without(home.path(), &["/bin/sh", "-c", "exec \"$0\" \"$@\""], &[why, remedy]);
    // A JVM that runs already refuses by itself; it goes on.
    let Some(jvm) = Jvm::start(&[], &[]) else { return };
    let answer = until_up(&jvm, home.path());
    let lines = ours(&answer);
    assert!(
        lines.last().is_some_and(|line| line.contains(why) && line.contains(remedy)),
        "{}",
        stderr(&answer)
    );
    assert!(jvm::os::is_running(jvm.pid), "the application runs");
}

/// What can be seen from outside is reported, with the reason why there is no more.
fn examined_without(home: &Path, before: &[&str], why: &[&str]) {
    let (java, jar) = (java(), home.join("terrace-workloads.jar"));
    let doctor = ["doctor", "--warmup", "1", "--seconds", "1", "--format", "json", "--"];
    let program = [&java, "-Xmx64m", "-jar", jar.to_str().unwrap(), "alloc", "--seconds", "600"];
    let answer = with(home, &[&doctor[..], before, &program].concat());
    let report: Value =
        serde_json::from_slice(&answer.stdout).unwrap_or_else(|_| panic!("{}", stderr(&answer)));
    let (evidence, missing) = (&report["evidence"], report["evidence"]["missing"].to_string());
    assert!(why.iter().all(|part| missing.contains(part)), "{why:?} in {missing}");
    assert!(evidence["allocation"].is_null() && evidence["refills"].is_null(), "{report:#}");
    assert!(evidence["threads"]["alive"].as_u64() > Some(0), "HotSpot's own counters: {report:#}");
    assert_ne!(evidence["jvm"]["collector"], "unknown", "{report:#}");
}

/// As on a JDK that it does not know: it looks for a table of HotSpot's that is not there, and refuses.
#[test]
fn an_agent_that_refuses_the_jvm() {
    let unknown = |library: &mut [u8]| {
        let name = b"gHotSpotVMStructs";
        let found = (0..library.len() - name.len()).filter(|at| library[*at..].starts_with(name));
        let found: Vec<usize> = found.collect();
        assert!(!found.is_empty(), "the agent looks for HotSpot's tables");
        found.into_iter().for_each(|at| library[at] = b'h');
    };
    let Some(home) = home(unknown) else { return };
    examined_without(home.path(), &[], &["the agent refused: "]);
}

/// Asks until the JVM is not too young any more.
fn until_up(jvm: &Jvm, home: &Path) -> Output {
    loop {
        let answer = with(home, &["attach", &jvm.pid.to_string()]);
        if !stderr(&answer).contains("try again") {
            return answer;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn an_agent_of_another_architecture() {
    unloadable(
        other_architecture,
        "not built for this program's architecture",
        "use Terrace's archive for it",
    );
}

#[test]
fn an_agent_for_a_newer_glibc() {
    unloadable(newer_glibc, "built for a newer glibc", "needs glibc 2.17 or musl");
}

/// A shell in mounts of its own, or the reason for skipping.
fn mounts(setting: &str) -> Option<Vec<String>> {
    let before = ["unshare", "--mount", "sh", "-c"];
    let shell = format!("{setting} && exec \"$@\"");
    let mut attempt = Command::new(before[0]);
    attempt.args(&before[1..]).arg(&shell).args(["sh", "true"]).stderr(Stdio::null());
    let works = attempt.status().is_ok_and(|status| status.success());
    if !works {
        skips::skip!("mounts of its own: unshare is not there, or not allowed");
        return None;
    }
    Some([&before[..], &[&shell, "sh"]].concat().into_iter().map(str::to_owned).collect())
}

#[test]
fn a_folder_from_which_nothing_may_be_executed() {
    let Some(home) = home(|_| {}) else { return };
    let place = home.path().display();
    let Some(words) =
        mounts(&format!("mount --bind {place} {place} && mount -o remount,bind,noexec {place}"))
    else {
        return;
    };
    let run = ["run", "--", &java(), "-version"];
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).arg(env!("CARGO_BIN_EXE_terrace")).args(run);
    command.env("TERRACE_HOME", home.path()).env_remove("JAVA_TOOL_OPTIONS").stdin(Stdio::null());
    assert_runs_without(
        &command.output().unwrap(),
        "does not permit execution",
        "copy Terrace to another directory",
    );
}

/// The same with a /tmp of its own, mounted like that: what lies in the other one is not to be seen there.
fn own_tmp(options: &str) -> Option<Vec<String>> {
    let programs = [java(), jar(&installed()?)];
    if programs.iter().any(|program| program.starts_with("/tmp/")) {
        skips::skip!("a /tmp of its own: java or the workloads lie in /tmp; clone elsewhere");
        return None;
    }
    mounts(&format!("mount -t tmpfs -o {options} none /tmp"))
}

/// Attaches to a JVM whose /tmp is mounted like that.
fn attached(options: &str) -> Option<(i32, String)> {
    let words = own_tmp(options)?;
    let jvm = Jvm::start(&words.iter().map(String::as_str).collect::<Vec<_>>(), &[])?;
    let (code, said) = jvm.ask("attach", &[]);
    assert!(jvm::os::is_running(jvm.pid), "the application runs: {said}");
    Some((code?, said))
}

#[test]
fn a_jvm_whose_tmp_forbids_to_execute() {
    let Some((code, said)) = attached("noexec") else { return };
    assert!(code == 1 && said.contains("/tmp is mounted noexec") && said.contains("-agentpath"), "{said}");
}

#[test]
fn a_jvm_whose_tmp_is_read_only() {
    let Some((code, said)) = attached("ro") else { return };
    let line = "cannot open its attach socket, because its /tmp is read-only: mount a writable one (tmpfs), or start it with 'terrace run'";
    assert!(code == 1 && said.contains(line), "{said}");
}

#[test]
fn a_jvm_with_a_tmp_of_its_own_loads_one_copy_however_often_it_is_asked() {
    let Some(words) = own_tmp("rw") else { return };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some(jvm) = Jvm::start(&words, &[]) else { return };
    for _ in 0..3 {
        let (code, said) = jvm.ask("attach", &["levels=none"]);
        assert_eq!(code, Some(0), "{said}");
        let (code, said) = jvm.ask("off", &[]);
        assert!(code == Some(0) && said.contains("withdrawn"), "{said}");
    }
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", jvm.pid)).unwrap();
    let copies: std::collections::BTreeSet<&str> = maps
        .lines()
        .filter(|line| line.contains("libterrace.so"))
        .filter_map(|line| line.split_whitespace().nth(4))
        .collect();
    assert_eq!(copies.len(), 1, "inodes of the agent's library: {maps}");
}

/// Until the workload's own thread runs.
fn until_it_works(jvm: &Jvm) {
    let works = || {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", jvm.pid)).unwrap().flatten();
        let mut names = tasks.flat_map(|task| std::fs::read_to_string(task.path().join("comm")));
        names.any(|name| name.starts_with("alloc"))
    };
    while !works() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Two containers that share a /tmp: in each the JVM is process 1, and only one of them can have the socket of that name.
#[test]
fn a_jvm_whose_socket_is_that_of_another_is_not_confused_with_it() {
    if own_tmp("rw").is_none() {
        return;
    }
    let shared = tempfile::tempdir().unwrap();
    let mount = format!("mount --bind {} /tmp && exec \"$@\"", shared.path().display());
    let before = ["unshare", "--mount", "--pid", "--fork", "sh", "-c", &mount, "sh"];
    let [Some(first), Some(second)] = [(); 2].map(|()| Jvm::start(&before, &[])) else { return };
    // A JVM that starts removes what has the name of its socket.
    [&first, &second].into_iter().for_each(until_it_works);
    let (code, said) = first.ask("attach", &["levels=none"]);
    assert_eq!(code, Some(0), "{said}");
    let line = format!("/tmp/.java_pid1 is the socket of process {}, which", first.pid);
    let (code, said) = second.ask("attach", &[]);
    assert!(code == Some(1) && said.contains(&line) && said.contains("a /tmp of its own"), "{said}");
    let (code, said) = second.ask("doctor", &["--seconds", "1", "--format", "json"]);
    assert!(code == Some(0) && said.contains(&line), "from outside, with the reason: {said}");
    let (_, said) = first.ask("status", &[]);
    assert!(said.contains("observing"), "it has its agent still, and no other: {said}");
    let pid = first.pid;
    drop(first);
    while jvm::os::is_running(pid) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // Its last thread closes the socket, which may be a moment later.
    let (code, said) = loop {
        let (code, said) = second.ask("attach", &["levels=none"]);
        if !said.contains(&line) {
            break (code, said);
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert_eq!(code, Some(0), "what is left of the other one is in nobody's way: {said}");
}
