//! JVMs into which the agent cannot come, or of which nobody may say anything: what `terrace doctor` and `terrace attach` make of them.

#[path = "common/cpus.rs"]
mod cpus;
#[path = "common/examined.rs"]
mod examined;
#[path = "common/real.rs"]
mod installed;
#[path = "common/jvm.rs"]
mod running;
#[path = "../../agent/tests/jvm/version_number.rs"]
mod version_number;

use examined::{assert_seen_from_outside, collects, refills, report_when};
use installed::{Busy, installed, jar, stderr, stdout, terrace};
use jvm::jdk::Jdk;
use running::{Jvm, status, the_jvm};
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// `nobody`'s number on every Linux.
const NOBODY: u32 = 65_534;
const ROOTS: &str = "belongs to another user (UID 0); run this command as that user, or as root";

/// Our command, run by a user who is not root. `None` where there is no such user to be, or where he cannot start it.
fn as_nobody(arguments: &[&str]) -> Option<Command> {
    let command = |arguments: &[&str]| {
        let mut command = terrace(arguments);
        command.uid(NOBODY).gid(NOBODY).current_dir("/");
        command
    };
    if jvm::os::user() != 0 {
        skips::skip!("another user's JVM: only root becomes another user");
        return None;
    }
    let starts = command(&["--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !starts.is_ok_and(|status| status.success()) {
        skips::skip!("another user's JVM: the command lies where another user cannot start it");
        return None;
    }
    Some(command(arguments))
}

#[test]
fn another_users_jvm_is_one_line_with_a_remedy_and_goes_on() {
    if installed().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let prints = folder.path().join("printed");
    let before = ["sh", "-c", "exec \"$@\" >\"$0\"", prints.to_str().unwrap()];
    let Some(jvm) = Jvm::start(&before, &[]) else { return };
    let pid = jvm.pid.to_string();
    // With its attach mechanism not yet begun, and then with its socket open.
    for _ in 0..2 {
        for words in [
            &["doctor", &pid][..],
            &["doctor", &pid, "--verify"],
            &["attach", &pid],
            &["attach", &pid, "core=64k"],
            &["status", &pid],
            &["off", &pid],
        ] {
            let Some(mut command) = as_nobody(words) else { return };
            let answer = command.output().unwrap();
            let said = stderr(&answer);
            assert_eq!(answer.status.code(), Some(1), "{words:?}: {said}");
            assert_eq!(said, format!("terrace: process {pid} {ROOTS}\n"), "{words:?}");
            assert!(stdout(&answer).is_empty(), "{words:?}: {}", stdout(&answer));
        }
        // Who may ask finds it as it was.
        let (code, said) = jvm.ask("attach", &["levels=none"]);
        assert!(code == Some(0) && said.contains("observing"), "{said}");
        status(&jvm, |status| status["total"]["passed"].as_u64().is_some_and(|count| count > 10));
        assert_eq!(jvm.ask("off", &[]), (Some(0), "observer withdrawn\n".into()));
    }
    // A signal that nobody was entitled to would have had it print its threads.
    let printed = std::fs::read_to_string(prints).unwrap();
    assert!(!printed.contains("Full thread dump"), "{printed}");
    assert!(!Path::new(&format!("/tmp/.attach_pid{pid}")).exists(), "nobody asks it any more");
}

/// It opens its socket at once, because nobody can ask it to.
#[test]
fn a_jvm_without_signal_handlers_is_examined_like_any_other() {
    let Some(jvm) = Jvm::start(&[], &["-Xrs"]) else { return };
    report_when(jvm.pid, refills);
    status(&jvm, |found| found["state"] == "withdrawn");
}

/// What is seen of a JVM whose JDK the agent refuses; the JVM goes on.
fn assert_refused_and_seen(mut command: Command, jdk: &str) -> Value {
    command.env_remove("JAVA_TOOL_OPTIONS").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = Busy(command.spawn().unwrap());
    let jvm = Jvm { pid: the_jvm(child.0.id()), busy: child };
    let why = format!("the use of eden, and refills: refused: {jdk}");
    // Earlier it only says that it is still starting.
    let report = report_when(jvm.pid, |report| {
        collects(report) && !report["evidence"]["missing"].to_string().contains("still starting")
    });
    assert_seen_from_outside(&report, &why);
    assert_seen_from_outside(&report, "is not supported: use JDK 11, 17, 21, 25");
    let again = report_when(jvm.pid, collects);
    assert_eq!(again["evidence"]["jvm"]["pid"], jvm.pid);
    let (code, said) = jvm.ask("attach", &["core=64k"]);
    assert!(code == Some(1) && said.contains(&format!("refused: {jdk}")), "{said}");
    report
}

/// One that was fetched to be refused. None of our programs is for it: the script's interpreter is its own.
#[test]
fn jdk_8_is_seen_from_outside() {
    if installed().is_none() {
        return;
    }
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/jdks/8/bin/java");
    if !java.is_file() {
        skips::skip!("JDK 8: not found (cargo xtask jdks 8)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("allocate.js");
    std::fs::write(&script, "for (;;) new java.util.ArrayList(1000);").unwrap();
    let mut command = Command::new(java);
    command.args(["-Xmx64m", "-XX:+UseSerialGC", "jdk.nashorn.tools.Shell"]).arg(script);
    let report = assert_refused_and_seen(command, "JDK 8 (HotSpot 25.");
    assert_seen_from_outside(&report, "flags: ");
    assert_seen_from_outside(&report, "threads: ");
    assert_eq!(report["evidence"]["jvm"]["collector"], "Serial");
}

/// The newest one, whose HotSpot says that it is of a version between two that are supported: in a copy of its library the number that it tells
/// is another.
#[test]
fn an_unsupported_jdk_is_seen_from_outside() {
    let Some(folder) = installed() else { return };
    let place = tempfile::tempdir().unwrap();
    let jdk = jvm::jdk::newest().unwrap();
    let Some(java) = pretending(&jdk, &place.path().join("jdk"), 24) else { return };
    let mut command = Command::new(java);
    command.args(["-Xmx64m", "-XX:+UseSerialGC", "-XX:+EnableDynamicAgentLoading", "-jar", &jar(&folder)]);
    command.args(["alloc", "--threads", "1", "--seconds", "600"]);
    // It is named by its full version, which is a text of its own.
    assert_refused_and_seen(command, &format!("JDK {}", jdk.version));
}

/// The `java` of a JDK of symbolic links, but for what finds its own place by its real path, and the changed library.
fn pretending(jdk: &Jdk, home: &Path, feature: u32) -> Option<PathBuf> {
    let linked = Command::new("cp").arg("-rs").args([&jdk.home, home]).status();
    if !linked.is_ok_and(|status| status.success()) {
        skips::skip!("an unsupported JDK: cp -rs: not on this machine");
        return None;
    }
    for file in ["bin/java", "lib/libjli.so", "release", "lib/server/libjvm.so"] {
        // By another process: a descriptor of ours, inherited by a fork in another test's thread, would make `java` "busy".
        let copy = ["--remove-destination", "--dereference"];
        let copied = Command::new("cp").args(copy).args([jdk.home.join(file), home.join(file)]).status();
        assert!(copied.unwrap().success(), "{file}");
    }
    let library = home.join("lib/server/libjvm.so");
    let mut bytes = std::fs::read(&library).unwrap();
    let Some(at) = version_number::place(&bytes) else {
        skips::skip!("an unsupported JDK: libjvm.so of JDK {} has no symbol table", jdk.feature);
        return None;
    };
    assert_eq!(bytes[at..at + 4], jdk.feature.to_ne_bytes(), "the number that it tells");
    bytes[at..at + 4].copy_from_slice(&feature.to_ne_bytes());
    std::fs::write(&library, bytes).unwrap();
    Some(home.join("bin/java"))
}
