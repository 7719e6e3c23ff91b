//! The command with the real agent, the real workloads and real JVMs, as `cargo xtask build` puts them beside it.

#[path = "common/real.rs"]
mod installed;

use installed::{Busy, installed, jar, java, output, stderr, stdout};

#[test]
fn run_with_a_report() {
    let Some(folder) = installed() else { return };
    let report = tempfile::tempdir().unwrap();
    let path = report.path().join("report.json");
    let path = path.to_str().unwrap();
    let jar = jar(&folder);
    let ran = output(&[
        "run",
        "--report",
        path,
        "--",
        &java(),
        "-jar",
        &jar,
        "alloc",
        "--seconds",
        "1",
        "--warmup",
        "0",
    ]);
    assert!(ran.status.success(), "{}", stderr(&ran));
    assert!(stdout(&ran).contains("\"checks\":\"passed\""), "{}", stdout(&ran));
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(report["settings"]["levels"], "core");
    assert!(report["total"]["refills"].as_u64().unwrap() > 0, "{report}");
}

#[test]
fn the_status_of_a_running_program() {
    let Some(folder) = installed() else { return };
    let jar = jar(&folder);
    let busy = Busy::start(&["run", "--tlab", "4k", "--", &java(), "-jar", &jar, "alloc", "--seconds", "60"]);
    let status = busy.status(|status| status["total"]["buffers"].as_u64().is_some_and(|count| count > 1000));
    assert_eq!(status["state"], "installed", "{status}");
    assert!(status["settings"]["core_bytes"].as_u64().unwrap() > 0, "{status}");
    let table = output(&["status", &busy.0.id().to_string()]);
    assert!(table.status.success() && stdout(&table).contains("core"), "{}", stdout(&table));
}

#[test]
fn the_status_says_why_the_agent_refused() {
    let Some(folder) = installed() else { return };
    let jar = jar(&folder);
    let program = [&java(), "-XX:+UseZGC", "-jar", &jar, "alloc", "--seconds", "60"];
    let busy = Busy::start(&[&["run", "--core", "64k", "--"][..], &program].concat());
    let status = busy.status(|status| status["state"] == "refused");
    assert!(
        status["message"].as_str().unwrap().contains("ZGC already allocates from per-CPU pages"),
        "{status}"
    );
}

#[test]
fn zgc_is_observed_and_the_status_says_so() {
    let Some(folder) = installed() else { return };
    let jar = jar(&folder);
    let busy = Busy::start(&["run", "--", &java(), "-XX:+UseZGC", "-jar", &jar, "alloc", "--seconds", "60"]);
    let status = busy.status(|status| status["total"]["passed"].as_u64().is_some_and(|count| count > 100));
    assert!(status["message"].as_str().unwrap().contains("ZGC is observed only"), "{status}");
    assert_eq!((&status["state"], &status["settings"]["levels"]), (&"observing".into(), &"none".into()));
    assert!(status["served_bytes"].as_u64().unwrap() > 0, "{status}");
    assert_eq!(status["total"]["refills"], 0, "{status}");
}

#[test]
fn a_flag_that_a_scripts_own_overrules_is_not_compared() {
    let Some(folder) = installed() else { return };
    let (jar, java) = (jar(&folder), java());
    let compare = |side: &str| {
        let times = ["--warmup", "0", "--duration", "2s", "--fork-seconds", "1s", "--format", "json"];
        let script = ["sh", "-c", "exec \"$0\" -Xmx64m \"$@\"", &java, "-jar", &jar];
        let program = [&script[..], &["alloc", "--threads", "1", "--seconds", "600"]].concat();
        output(&[&["compare", side, "--b", "stock"], &times[..], &["--"], &program].concat())
    };
    let answer = compare("--a=-Xmx128m");
    let said = stderr(&answer);
    assert_eq!(answer.status.code(), Some(2), "{said}");
    let line = said.lines().last().unwrap_or_default();
    assert!(line.starts_with("terrace: -Xmx128m of 'stock -Xmx128m"), "{said}");
    assert!(line.contains("the program's own -Xmx64m comes after it"), "{said}");
    assert!(stdout(&answer).is_empty(), "{}", stdout(&answer));
    let answer = compare("--a=-XX:TLABSize=4k");
    let found: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap_or_default();
    assert!(found["ratio"]["median"].as_f64() > Some(0.0), "{}", stderr(&answer));
}

#[test]
fn an_archive_is_written_without_the_agent_and_used_with_it() {
    let Some(folder) = installed() else { return };
    let (jar, java) = (jar(&folder), java());
    let archives = tempfile::tempdir().unwrap();
    let archive = archives.path().join("app.jsa");
    let program = ["-jar", &jar, "alloc", "--threads", "1", "--seconds", "1", "--warmup", "0"];
    let write = format!("-XX:ArchiveClassesAtExit={}", archive.display());
    let written = output(&[&["run", "--", java.as_str(), write.as_str()][..], &program].concat());
    assert!(written.status.success() && archive.is_file(), "{}", stderr(&written));
    let lines = stderr(&written);
    let ours: Vec<&str> = lines.lines().filter(|line| line.starts_with("terrace: ")).collect();
    assert!(ours.len() == 1 && ours[0].contains("starting without terrace"), "{lines}");
    let (report, used) =
        (archives.path().join("report.json"), format!("-XX:SharedArchiveFile={}", archive.display()));
    let report = report.to_str().unwrap();
    let ran =
        output(&[&["run", "--report", report, "--", &java, &used, "-Xshare:on"][..], &program].concat());
    assert!(ran.status.success(), "{}", stderr(&ran));
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    assert!(report["total"]["refills"].as_u64().unwrap() > 0, "{report}");
}

#[test]
fn a_workload_compared_in_one_process() {
    let Some(_) = installed() else { return };
    let words = ["compare", "--workload", "alloc", "--threads", "2", "--gc", "parallel", "--tlab", "1k"];
    let more = ["--duration", "3s", "--warmup", "1s", "--format", "json"];
    let compared = output(&[&words[..], &more[..]].concat());
    assert!(compared.status.success(), "{}", stderr(&compared));
    let result: serde_json::Value = serde_json::from_slice(&compared.stdout).unwrap();
    for part in ["median", "low", "high"] {
        assert!(result["ratio"][part].as_f64().unwrap() > 0.0, "{result}");
    }
    assert_eq!(result["sides"]["a"]["settings"]["tlab"], "1k", "{result}");
}

#[test]
fn a_users_program_compared_in_one_process() {
    let Some(folder) = installed() else { return };
    let jar = jar(&folder);
    let java = java();
    let words = ["compare", "--duration", "3s", "--warmup", "1s", "--format", "json", "--tlab", "2k", "--"];
    let program = [&java, "-XX:+UseSerialGC", "-jar", &jar, "alloc", "--seconds", "60"];
    let compared = output(&[&words[..], &program[..]].concat());
    assert!(compared.status.success(), "{}", stderr(&compared));
    let result: serde_json::Value = serde_json::from_slice(&compared.stdout).unwrap();
    assert_eq!(result["unit"], "bytes/s", "{result}");
}

/// What it logs for us goes with all else.
#[test]
fn a_program_that_switches_logs_off_has_no_pauses_and_says_so() {
    let Some(folder) = installed() else { return };
    let jar = jar(&folder);
    let java = java();
    let words = ["compare", "--duration", "3s", "--warmup", "1s", "--format", "json", "--"];
    let compare = |options: &[&str]| -> serde_json::Value {
        let program = [&[java.as_str()], options, &["-Xmx64m", "-jar", &jar, "alloc", "--seconds", "600"]];
        let compared = output(&[&words[..], &program.concat()].concat());
        assert!(compared.status.success(), "{}", stderr(&compared));
        serde_json::from_slice(&compared.stdout).unwrap()
    };
    let without = compare(&["-Xlog:disable"]);
    assert!(without["estimate"]["stopped"].is_null(), "{without}");
    assert!(without["notes"].to_string().contains("leave out -Xlog:disable"), "{without}");
    let with = compare(&[]);
    assert!(with["estimate"]["stopped"].is_array(), "{with}");
    assert!(!with["notes"].to_string().contains("-Xlog:disable"), "{with}");
}

#[test]
fn terrace_against_stock_in_forks() {
    let Some(_) = installed() else { return };
    let words = ["compare", "--workload", "churn", "--gc", "serial", "--against", "stock"];
    let result = in_forks(&words, &["--jvm-arg=-Xmx256m"], |result| result["collections_ratio"].is_number());
    assert!(result["collections_ratio"].as_f64().unwrap() < 1.0, "{result}");
    assert!(
        result["sides"]["a"]["settings"]["tlab"].as_str().unwrap().contains("new threads from 2k"),
        "{result}"
    );
}

/// The comparison by forks of the first of these lengths that is long enough for what it has to show: of one second a busy machine may give a JVM
/// next to nothing.
fn in_forks(
    sides: &[&str],
    program: &[&str],
    ready: impl Fn(&serde_json::Value) -> bool,
) -> serde_json::Value {
    let mut last = serde_json::Value::Null;
    for seconds in [1, 4, 16, 64] {
        let (fork, all) = (format!("{seconds}s"), format!("{}s", 4 * seconds));
        let times = ["--warmup", "1s", "--fork-seconds", &fork, "--duration", &all, "--format", "json"];
        let compared = output(&[sides, &times, program].concat());
        assert!(compared.status.success(), "{}", stderr(&compared));
        last = serde_json::from_slice(&compared.stdout).unwrap();
        if ready(&last) {
            return last;
        }
    }
    panic!("nothing to be seen: {last:#}")
}

#[test]
fn a_users_program_with_a_flag_on_one_side() {
    let Some(folder) = installed() else { return };
    let (jar, java) = (jar(&folder), java());
    let program = ["--", &java, "-XX:+UseSerialGC", "-jar", &jar, "alloc", "--seconds", "600"];
    let sides = |b: &'static str| ["compare", "--a", "terrace core=64k -Xmn256m", "--b", b];
    let words = sides("-XX:TLABSize=4k -Xmn64m");
    // One collection more or less is chance.
    let result = in_forks(&words, &program, |result| {
        result["collections_ratio"].is_number() && result["sides"]["b"]["collections"].as_f64() > Some(10.0)
    });
    let (a, b) = (&result["sides"]["a"], &result["sides"]["b"]);
    assert_eq!(
        (&a["name"], &a["settings"]["core_bytes"]),
        (&"terrace core=64k -Xmn256m".into(), &65536.into())
    );
    assert_eq!(b["name"], "stock -XX:TLABSize=4k -Xmn64m, observed");
    assert!(result["collections_ratio"].as_f64().unwrap() < 1.0, "a small young generation: {result}");
    for side in [a, b] {
        assert!(side["throughput"]["median"].as_f64().unwrap() > 0.0, "bytes are counted on both: {result}");
    }
    let wrong = output(&[&sides("-XX:TLABSiez=4k")[..], &["--fork-seconds", "1s"], &program].concat());
    assert_eq!((wrong.status.code(), wrong.stdout.len()), (Some(1), 0), "{}", stderr(&wrong));
    assert!(stderr(&wrong).contains("Unrecognized VM option 'TLABSiez=4k'"), "{}", stderr(&wrong));
}

#[test]
fn heap_used_up_does_not_depend_on_the_size_of_eden() {
    let Some(folder) = installed() else { return };
    let (jar, java) = (jar(&folder), java());
    let program = ["--", &java, "-XX:+UseSerialGC", "-jar", &jar, "alloc", "--seconds", "600"];
    let result = in_forks(&["compare", "--a", "-Xmn16m", "--b", "-Xmn64m"], &program, |result| {
        result["heap_use"].is_object() && result["sides"]["b"]["collections"].as_f64() > Some(10.0)
    });
    assert!(result["collections_ratio"].as_f64().unwrap() > 2.0, "{result}");
    let heap = result["heap_use"]["median"].as_f64().unwrap();
    assert!((0.7..1.4).contains(&heap), "{result}");
}

/// Before a JVM is started where the command line says it, and otherwise by the agent.
#[test]
fn a_collector_that_is_refused_is_an_error_and_no_ratio() {
    let Some(folder) = installed() else { return };
    let (jar, java) = (jar(&folder), java());
    let script = format!("exec '{java}' -XX:+UseZGC -jar '{jar}' alloc --seconds 600");
    let (named, hidden) = (["--workload", "alloc", "--gc", "z"], ["--", "sh", "-c", &script]);
    for (against, program, code) in
        [("off", named, 2), ("stock", named, 2), ("off", hidden, 1), ("stock", hidden, 1)]
    {
        let words = ["compare", "--against", against, "--duration", "4s", "--format", "json"];
        let forks = if against == "off" { &[][..] } else { &["--fork-seconds", "1s"] };
        let compared = output(&[&words[..], forks, &program].concat());
        assert_eq!(compared.status.code(), Some(code), "{}", stdout(&compared));
        assert!(compared.stdout.is_empty(), "{}", stdout(&compared));
        assert!(
            stderr(&compared).contains("ZGC already allocates from per-CPU pages"),
            "{}",
            stderr(&compared)
        );
    }
}

#[test]
fn a_program_that_fails_is_an_error_and_no_ratio() {
    let Some(folder) = installed() else { return };
    let jar = jar(&folder);
    let java = java();
    let compared =
        output(&["compare", "--duration", "3s", "--", &java, "-jar", &jar, "alloc", "--threads", "none"]);
    assert_eq!(compared.status.code(), Some(1));
    assert!(compared.stdout.is_empty() && stderr(&compared).contains("--threads"), "{}", stderr(&compared));
}

/// A build tool's: the next run's client would use it, with the agent of this one.
#[test]
fn a_daemon_that_stays_behind_is_an_error_and_keeps_no_buffers() {
    let Some(folder) = installed() else { return };
    let (java, jar) = (java(), jar(&folder));
    let place = tempfile::tempdir().unwrap();
    let pid_file = place.path().join("pid");
    let script = format!(
        "setsid '{java}' -Xmx64m -jar '{jar}' churn --seconds 600 >/dev/null 2>&1 & echo $! >'{}'; exec sleep 600",
        pid_file.display()
    );
    let times = ["--duration", "4", "--fork-seconds", "2", "--warmup", "1"];
    let sides = ["compare", "--a", "terrace", "--b", "stock", "--forks=interleaved", "--seed", "1"];
    let answer = output(&[&sides[..], &times, &["--", "sh", "-c", &script]].concat());
    let daemon: u32 = std::fs::read_to_string(&pid_file).unwrap().trim().parse().unwrap();
    let state = output(&["status", &daemon.to_string(), "--format", "json"]);
    jvm::os::signal(daemon, 9);
    let told = stderr(&answer);
    assert_eq!(answer.status.code(), Some(1), "{told}");
    assert!(told.contains(&format!("its JVM {daemon} runs on, as a build tool's daemon does")), "{told}");
    let state: serde_json::Value = serde_json::from_slice(&state.stdout).unwrap();
    assert!(state["state"] == "withdrawn" || state["mode"] == "off", "{state}");
}
