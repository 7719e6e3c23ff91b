//! `terrace attach`, `on`, `off` and `set` with real JVMs.

#[path = "common/real.rs"]
mod installed;
#[path = "common/jvm.rs"]
mod running;

use installed::{PATIENCE, output, stderr, stdout};
use running::{Jvm, container, of_another_user, rootless, status};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Instant;

/// The buffers of two hundred cores fit, of 16 KB each: they are not reduced.
const ROOMY: [&str; 2] = ["-Xmx128m", "-Xmn64m"];

#[test]
fn buffers_come_into_a_running_jvm_and_are_switched() {
    let Some(jvm) = Jvm::start(&[], &ROOMY) else { return };
    let (code, said) = jvm.ask("attach", &["core=16k"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("installed") && said.contains("core_bytes 16384"), "{said}");
    status(&jvm, |status| status["total"]["refills"].as_u64().is_some_and(|count| count > 10));

    let (code, said) = jvm.ask("attach", &[]);
    assert!(code == Some(1) && said.contains("already has terrace"), "{said}");

    assert_eq!(jvm.ask("off", &[]), (Some(0), "buffers off\n".into()));
    assert_eq!(jvm.ask("off", &[]), (Some(0), "buffers off, as before\n".into()));
    let passed = |status: &serde_json::Value| status["total"]["passed"].as_u64().unwrap();
    let before = passed(&status(&jvm, |status| status["mode"] == "off"));
    status(&jvm, |status| passed(status) > before + 10);
    assert_eq!(jvm.ask("on", &[]), (Some(0), "buffers on\n".into()));
    assert_eq!(status(&jvm, |_| true)["mode"], "on");
}

#[test]
fn the_jvms_warning_is_announced_where_it_comes() {
    const ANNOUNCED: &str = "this JDK prints a warning on its standard error";
    let Some(jvm) = Jvm::launch(&[], &[]) else { return };
    let (code, said) = jvm.ask("attach", &[]);
    let warns = jvm::jdk::newest().unwrap().feature >= 21;
    assert!(code == Some(0) && said.contains(ANNOUNCED) == warns, "{said}");
    let jvm = Jvm::launch(&[], &[]).unwrap();
    let (code, said) = jvm.ask("doctor", &["--seconds", "1"]);
    assert!(code == Some(0) && said.contains(ANNOUNCED) == warns, "{said}");
    let jvm = Jvm::start(&[], &[]).unwrap();
    let (code, said) = jvm.ask("attach", &[]);
    assert!(code == Some(0) && !said.contains(ANNOUNCED), "{said}");
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
    assert!(code == Some(1) && said.contains("its agent has withdrawn; 'terrace attach"), "{said}");
    let (code, said) = jvm.ask("attach", &["levels=none"]);
    assert!(code == Some(0) && said.contains("observing"), "{said}");
    let (code, said) = jvm.ask("attach", &["core=64k"]);
    assert!(
        code == Some(0) && said.contains("buffers take its place") && said.contains("installed"),
        "{said}"
    );
    status(&jvm, |status| status["total"]["refills"].as_u64().is_some_and(|count| count > 10));
}

#[test]
fn sizes_are_set() {
    let Some(jvm) = Jvm::start(&[], &ROOMY) else { return };
    assert_eq!(jvm.ask("attach", &["core=16k"]).0, Some(0));
    status(&jvm, |status| status["total"]["refills"].as_u64().is_some_and(|count| count > 10));
    // A JVM that has no turn for two seconds takes them later, which is told; asked again, it has them.
    let set = |size: &str| {
        let until = Instant::now() + PATIENCE;
        loop {
            let (code, said) = jvm.ask("set", &[size]);
            assert!(code == Some(0) && Instant::now() < until, "{size}: {said}");
            if !said.contains("from the next refill on") {
                return said;
            }
        }
    };
    let said = set("core=8k");
    assert!(
        ["core buffers 8k, before 16k\n", "core buffers 8k, as before\n"].contains(&said.as_str()),
        "{said}"
    );
    let shown = status(&jvm, |_| true);
    assert_eq!(
        (&shown["settings"]["core_bytes"], &shown["settings"]["automatic"]),
        (&8192.into(), &false.into())
    );
    let said = set("core=1g");
    assert!(said.contains("(1g is too large for this heap"), "{said}");
    let said = set("core=auto");
    assert!(said.contains("(auto)"), "{said}");
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
    let (code, said) = jvm.ask("attach", &["core=64k"]);
    assert!(code == Some(1) && said.contains("ZGC already allocates from per-CPU pages"), "{said}");
    // Who does not insist gets an observer, which nothing but `off` ends.
    let (code, said) = jvm.ask("attach", &[]);
    assert!(code == Some(0) && said.contains("observing") && said.contains("ZGC is observed only"), "{said}");
    for (command, words) in [("on", &[][..]), ("set", &["core=64k"]), ("attach", &["core=64k"])] {
        let (code, said) = jvm.ask(command, words);
        let told = said.contains("ZGC is observed only") && said.lines().count() == 1;
        assert!(code == Some(1) && told, "{command}: {said}");
    }
    status(&jvm, |status| status["total"]["passed"].as_u64().is_some_and(|count| count > 100));
    assert_eq!(jvm.ask("off", &[]), (Some(0), "observer withdrawn\n".into()));
}

#[test]
fn a_jvm_that_does_not_attach_says_how_it_was_started() {
    let Some(jvm) = Jvm::start(&[], &["-XX:+DisableAttachMechanism"]) else { return };
    let (code, said) = jvm.ask("attach", &[]);
    assert!(code == Some(1) && said.contains("-XX:+DisableAttachMechanism"), "{said}");
}

/// Only the JVM itself knows of it: the words are in a file of options.
#[test]
fn a_jvm_whose_options_are_in_a_file_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let options = folder.path().join("options");
    std::fs::write(&options, "-XX:+DisableAttachMechanism").unwrap();
    let Some(jvm) = Jvm::start(&[], &[&format!("@{}", options.display())]) else { return };
    let (code, said) = jvm.ask("attach", &[]);
    assert!(code == Some(1) && said.contains("-XX:+DisableAttachMechanism"), "{said}");
}

#[test]
fn a_jvm_that_takes_no_agents_says_which_flag_allows_them() {
    let Some(jvm) = Jvm::start(&[], &["-XX:-EnableDynamicAgentLoading"]) else { return };
    let (code, said) = jvm.ask("attach", &[]);
    assert!(code == Some(1) && said.contains("EnableDynamicAgentLoading"), "{said}");
}

/// As by `docker exec`: the JVM is process 1 there.
#[test]
fn a_command_in_the_container_asks_process_1() {
    let Some(jvm) = container() else { return };
    let inside = |words: &[&str]| {
        let until = Instant::now() + PATIENCE;
        loop {
            let mut command = Command::new("nsenter");
            command.args(["--target", &jvm.pid.to_string(), "--mount", "--pid", "--wd=/"]);
            command.args(["setpriv", "--reuid", "4711", "--regid", "4711", "--clear-groups"]);
            let answer = command.arg(env!("CARGO_BIN_EXE_terrace")).args(words).output().unwrap();
            let said = stdout(&answer) + &stderr(&answer);
            if !said.contains("try again") {
                return (answer.status.code(), said);
            }
            assert!(Instant::now() < until, "{said}");
        }
    };
    let (code, said) = inside(&["doctor", "1", "--seconds", "1"]);
    // Yama may keep the user from reading the JVM's memory, and so the use of eden.
    assert!(code == Some(0) && said.contains("refills"), "{said}");
    let (code, said) = inside(&["attach", "1", "core=64k"]);
    assert!(code == Some(0) && said.contains("installed"), "{said}");
    status(&jvm, |status| status["total"]["refills"].as_u64().is_some_and(|count| count > 10));
    assert_eq!(inside(&["off", "1"]), (Some(0), "buffers off\n".into()));
}

/// As in a container that was not given more than usual.
#[test]
fn root_without_the_right_to_inspect_others_is_told_whom_to_be() {
    let Some(jvm) = of_another_user() else { return };
    let pid = jvm.pid.to_string();
    for words in
        [&["attach", &pid][..], &["doctor", &pid, "--seconds", "1"], &["status", &pid], &["off", &pid]]
    {
        let mut command = Command::new("setpriv");
        // Which of the first two a kernel asks for differs.
        let rights = "-sys_ptrace,-perfmon,-sys_admin";
        command.args([format!("--bounding-set={rights}"), format!("--inh-caps={rights}")]);
        let answer = command.arg(env!("CARGO_BIN_EXE_terrace")).args(words).output().unwrap();
        let said = stderr(&answer);
        let told = said.contains("cannot be inspected")
            && said.contains("as its user")
            && said.contains("CAP_SYS_PTRACE");
        assert!(answer.status.code() == Some(1) && told && said.lines().count() == 1, "{words:?}: {said}");
    }
}

#[test]
fn a_container_of_another_user() {
    let Some(jvm) = container() else { return };
    // Its library is a copy that is gone by then.
    assert_eq!(jvm.ask("attach", &["levels=none"]).0, Some(0));
    assert_eq!(jvm.ask("off", &[]), (Some(0), "observer withdrawn\n".into()));
    let (code, said) = jvm.ask("attach", &["core=64k"]);
    assert!(code == Some(0) && said.contains("installed"), "{said}");
    assert_eq!(jvm.left_in_tmp(), Vec::<String>::new());
    status(&jvm, |status| status["total"]["refills"].as_u64().is_some_and(|count| count > 10));
    assert_eq!(jvm.ask("off", &[]).0, Some(0));
}

/// Root's own directory is not for the JVM's user, who gets a copy.
#[test]
fn a_library_that_the_jvms_user_may_not_read() {
    let Some(jvm) = of_another_user() else { return };
    let private = tempfile::tempdir().unwrap();
    std::fs::set_permissions(private.path(), Permissions::from_mode(0o700)).unwrap();
    let installed = installed::installed().unwrap();
    let command = private.path().join("terrace");
    // By another process: a descriptor of ours, inherited by a fork in another test's thread, would make it "busy".
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_terrace")).arg(&command).status().unwrap();
    assert!(copied.success());
    std::fs::copy(installed.join("libterrace.so"), private.path().join("libterrace.so")).unwrap();
    let until = Instant::now() + PATIENCE;
    loop {
        let mut attach = Command::new(&command);
        attach.args(["attach", &jvm.pid.to_string(), "core=64k"]).env_remove("TERRACE_HOME");
        let answer = attach.output().unwrap();
        if answer.status.success() {
            break;
        }
        let said = stderr(&answer);
        assert!(said.contains("try again") && Instant::now() < until, "{said}");
    }
    status(&jvm, |status| status["total"]["refills"].as_u64().is_some_and(|count| count > 10));
    assert_eq!(jvm.ask("off", &[]).0, Some(0));
    // Others' copies come and go beside this test: by the name of its own, wherever that is seen from here.
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", jvm.pid)).unwrap();
    let library = maps.lines().find_map(|line| line.split_once("/libterrace.so").map(|(before, _)| before));
    let copy = library.and_then(|before| before.rsplit('/').next()).unwrap_or_default().to_owned();
    assert!(copy.starts_with("terrace-"), "its library is a copy: {copy}");
    assert!(!jvm.left_in_tmp().contains(&copy), "{:?}", jvm.left_in_tmp());
}

/// HotSpot prints its threads when it is asked to listen by a file that is not its user's or root's.
fn thread_dumps(jvm: &Jvm) -> usize {
    let printed = std::fs::read_to_string(format!("/proc/{}/root/tmp/printed", jvm.pid)).unwrap();
    printed.matches("Full thread dump").count()
}

#[test]
fn a_container_with_users_of_its_own() {
    let Some(jvm) = rootless() else { return };
    let (code, said) = jvm.ask("attach", &["levels=none"]);
    assert!(code == Some(0) && said.contains("observing"), "{said}");
    assert_eq!(jvm.ask("off", &[]), (Some(0), "observer withdrawn\n".into()));
    let (code, said) = jvm.ask("attach", &["core=64k"]);
    assert!(code == Some(0) && said.contains("installed"), "{said}");
    assert_eq!((jvm.left_in_tmp(), thread_dumps(&jvm)), (Vec::new(), 0));
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
