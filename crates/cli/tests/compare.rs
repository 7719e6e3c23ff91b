//! `terrace compare`, on a pretended JVM that is twice as fast with buffers.
//!
//! The pretended `java` is this very test binary, started again for its one test `pretended_jvm`.

mod common;
#[path = "common/pretended.rs"]
mod pretended;

use common::{Home, PATIENCE, assert_refused, errors, real_java, shown, text};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

fn home() -> Home {
    let us = text(&std::env::current_exe().unwrap());
    Home::new(&format!("PRETENDED=\"$* \" exec '{us}' --exact pretended_jvm --nocapture"))
}

#[test]
fn pretended_jvm() {
    // Started as a test like the others it has nothing to do.
    pretended::run_if_started();
}

const SHORT: [&str; 6] = ["--warmup", "0", "--window", "20ms", "--skip", "2ms"];
/// As long as a busy machine needs for intervals that tell.
const ENOUGH: [&str; 4] = ["--duration", "60s", "--precision", "20%"];

/// Two of them fit in any machine's memory: where they do not, they run one after the other.
const SMALL_HEAP: &str = "--jvm-arg=-Xmx32m";

const FORKS: [&str; 8] = ["--duration", "4s", "--fork-seconds", "1s", "--warmup", "0", "--format", "json"];
const LONGER: [&str; 8] = ["--duration", "64s", "--fork-seconds", "16s", "--warmup", "0", "--format", "json"];

fn compare(home: &Home, arguments: &[&str]) -> Output {
    let all: Vec<&str> = ["compare"].iter().chain(arguments).copied().collect();
    home.terrace(&all).output().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    assert_eq!(output.status.code(), Some(0), "{}", errors(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn about_two(ratio: &serde_json::Value) {
    let (low, high) = (ratio["low"].as_f64().unwrap(), ratio["high"].as_f64().unwrap());
    assert!(low > 1.3 && high < 3.5, "{ratio}");
}

/// Of two pairs, whose interval is twelve times as wide as they differ.
fn about_two_of_few(ratio: &serde_json::Value) {
    assert!(is_about_two(ratio), "{ratio}");
}

fn is_about_two(ratio: &serde_json::Value) -> bool {
    ratio["median"].as_f64().is_some_and(|median| (1.3..3.5).contains(&median))
}

/// A program in two pairs of forks, whose bytes are read from outside at two moments each: where one that lacked its CPU at such a moment spoils short forks, in longer ones.
fn program_in_forks(home: &Home, words: &[&str]) -> serde_json::Value {
    let of = |times: &[&str]| json(&compare(home, &[times, words].concat()));
    let found = of(&FORKS);
    let found = if is_about_two(&found["ratio"]) { found } else { of(&LONGER) };
    about_two_of_few(&found["ratio"]);
    found
}

#[test]
fn on_against_off_in_a_program_that_runs_until_it_is_ended() {
    let home = home();
    let java = home.java();
    let arguments = [&SHORT[..], &ENOUGH, &["--format", "json", "--", &java, "-jar", "app.jar"]].concat();
    let output = compare(&home, &arguments);
    let json = json(&output);
    about_two(&json["ratio"]);
    assert_eq!((&json["schema"], &json["mode"]), (&2.into(), &"process".into()));
    assert_eq!((&json["metric"], &json["verdict"]), (&"bytes allocated".into(), &"faster".into()));
    assert_eq!(json["sides"]["a"]["settings"]["tlab"], "2048", "in force, not asked for");
    assert_eq!(json["estimate"]["per_second"], json["ratio"]);
    let progress = String::from_utf8_lossy(&output.stderr);
    assert_eq!(progress.lines().count(), 2, "a line at start and end, no bar: {progress}");
}

#[test]
fn two_sizes_are_compared_inside_one_jvm() {
    let home = home();
    let java = home.java();
    let sides = ["--a", "terrace core=auto", "--b", "terrace core=8k"];
    let rest = ["--format", "json", "--", &java, "-jar", "app.jar"];
    let json = json(&compare(&home, &[&SHORT[..], &ENOUGH, &sides, &rest].concat()));
    about_two(&json["ratio"]);
    assert_eq!(json["mode"], "process");
    let core = |side: &str| json["sides"][side]["settings"]["core"].clone();
    assert_eq!([core("a"), core("b")], ["auto", "8k"]);
}

#[test]
fn the_control_compares_off_with_off_until_it_is_precise() {
    let home = home();
    let java = home.java();
    let arguments = [
        &SHORT[..],
        &[
            "--duration",
            "60s",
            "--control",
            "--precision",
            "20%",
            "--format",
            "json",
            "--",
            &java,
            "-jar",
            "a",
        ],
    ]
    .concat();
    let json = json(&compare(&home, &arguments));
    assert_eq!(json["sides"]["a"]["name"], json["sides"]["b"]["name"]);
    assert!(json["ratio"]["low"].as_f64().unwrap() < json["ratio"]["high"].as_f64().unwrap());
    assert_eq!(json["method"]["precision"], 0.2);
    let said = |json: &serde_json::Value| json["notes"].to_string().contains("both sides are the same");
    assert!(said(&json), "{json}");
    let forks = ["--b", "stock", "--control", "--workload", "alloc", "--java", &java];
    let found = self::json(&compare(&home, &[&FORKS[..], &forks].concat()));
    assert!(said(&found) && found["mode"] == "forks", "{found}");
    assert_eq!(found["sides"]["a"]["name"], found["sides"]["b"]["name"]);
}

#[test]
fn a_script_is_compared_as_well() {
    let home = home();
    let script = home.script("app.sh", &format!("'{}' -jar app.jar", home.java()));
    let script = text(&script);
    let arguments = [&SHORT[..], &ENOUGH, &["--format", "json", "--", &script]].concat();
    about_two(&json(&compare(&home, &arguments))["ratio"]);
}

#[test]
fn a_workload_counts_its_own_operations_and_a_table_is_shown() {
    let home = home();
    let java = home.java();
    let report = home.path("kept.json");
    let report_path = text(&report);
    let arguments =
        [&SHORT[..], &ENOUGH, &["--workload", "alloc", "--java", &java, "--out", &report_path]].concat();
    let output = compare(&home, &arguments);
    let table = shown(&output);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(
        table.starts_with("metric              byte[16] allocated\n") && table.contains("a is faster"),
        "{table}"
    );
    assert!(
        table.lines().filter(|line| line.starts_with(['|', '+'])).all(|line| line.chars().count() <= 100)
    );
    let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    about_two(&kept["ratio"]);
}

#[test]
fn terrace_against_stock_in_forks() {
    let home = home();
    let java = home.java();
    let arguments = [&FORKS[..], &["--against", "stock"]].concat();
    let workload = [&arguments[..], &["--workload", "alloc", "--java", &java]].concat();
    let found = json(&compare(&home, &workload));
    about_two_of_few(&found["ratio"]);
    assert_eq!((&found["pairs"], &found["verdict"]), (&2.into(), &"too_few_pairs".into()));
    assert!(found["collections_ratio"].as_f64().unwrap() < 0.05);
    assert!(found["sides"]["b"]["waste"].is_null() && found["sides"]["b"]["settings"].is_null());

    let program = ["--against", "stock", "--", &java, "-jar", "app.jar"];
    assert_eq!(program_in_forks(&home, &program)["metric"], "bytes allocated");
}

#[test]
fn both_jvms_of_a_pair_run_at_the_same_time_where_they_can() {
    let home = home();
    let java = home.java();
    let stock = [&FORKS[..], &["--against", "stock"]].concat();
    let workload = |more: &[&str]| {
        let alloc = ["--workload", "alloc", "--java", &java, SMALL_HEAP];
        json(&compare(&home, &[&stock[..], more, &alloc].concat()))
    };
    for (more, schedule) in [(&[][..], "concurrent"), (&["--forks=interleaved"][..], "interleaved")] {
        let found = workload(more);
        about_two_of_few(&found["ratio"]);
        assert_eq!((&found["pairs"], &found["method"]["schedule"]), (&2.into(), &schedule.into()), "{found}");
    }
    // A user's program runs twice only if the user says that it can.
    let program = |more: &str| {
        program_in_forks(&home, &["--against", "stock", more, SMALL_HEAP, "--", &java, "-jar", "app.jar"])
    };
    assert_eq!(program("--forks")["method"]["schedule"], "interleaved");
    let found = program("--forks=concurrent");
    assert_eq!(found["method"]["schedule"], "concurrent");
    assert_eq!(found["sides"]["b"]["collections"].as_u64(), Some(0));
}

#[test]
fn where_a_second_one_cannot_start_they_run_one_after_the_other() {
    let home = home();
    let java = home.java();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let program = ["--", &java, "-jar", "app.jar", "--listen", &port];
    let words = [&["--against", "stock", "--forks=concurrent", SMALL_HEAP][..], &program].concat();
    let output = compare(&home, &[&FORKS[..], &words].concat());
    let found = json(&output);
    assert_eq!(found["method"]["schedule"], "interleaved", "{found}");
    let notes = found["notes"].to_string();
    assert!(
        notes.contains("could not run at the same time, so they ran one after the other")
            && notes.contains("the server cannot start"),
        "{notes}"
    );
    assert!(errors(&output).contains("ran one after the other"), "{}", errors(&output));
}

#[test]
fn a_flag_is_a_side() {
    let home = home();
    let java = home.java();
    let flags = |side: &serde_json::Value| side["flags"].to_string().contains("-XX:+Twice");
    let words = [&FORKS[..], &["--b=-XX:+Twice", "--workload", "alloc", "--java", &java]].concat();
    let found = json(&compare(&home, &words));
    let (a, b) = (&found["sides"]["a"], &found["sides"]["b"]);
    assert_eq!((&a["name"], &b["name"]), (&"terrace".into(), &"stock -XX:+Twice".into()));
    assert!(flags(b) && !flags(a) && b["settings"].is_null(), "{found}");
    assert!(found["ratio"]["median"].as_f64().unwrap() < 1.3, "the flag does as well: {}", found["ratio"]);

    let sides = ["--a", "-XX:+Twice", "--b", "stock", "--jvm-arg=-Xmx1g", "--", &java, "-jar", "app.jar"];
    let found = program_in_forks(&home, &sides);
    assert_eq!(found["sides"]["a"]["name"], "stock -XX:+Twice, observed");
    assert_eq!(found["metric"], "bytes allocated", "both are observed, so that they are counted");
    assert!(["a", "b"].iter().all(|side| found["sides"][side]["flags"].to_string().contains("-Xmx1g")));
}

#[test]
fn a_program_that_ends_by_itself_is_compared_by_its_whole_time() {
    let home = home();
    let java = home.java();
    let arguments = [
        "--against",
        "stock",
        "--duration",
        "240s",
        "--fork-seconds",
        "60s",
        "--warmup",
        "0",
        "--format",
        "json",
    ];
    let program = [&arguments[..], &["--", &java, "--ends-after", "0.3"]].concat();
    let found = json(&compare(&home, &program));
    assert_eq!((&found["metric"], &found["unit"]), (&"whole runs".into(), &"runs/s".into()));
    assert_eq!(found["sides"]["a"]["collections_unit"], "run");
}

#[test]
fn what_failed_has_no_ratio() {
    let home = home();
    let java = home.java();
    let check = |rest: &[&str], parts: &[&str]| {
        for against in ["off", "stock", "off -Xmn64m"] {
            // Those that fail end by themselves, and the workload with what it measured.
            let (all, fork) = if rest.contains(&"--ends-after") { ("240s", "60s") } else { ("2s", "1s") };
            let timing = ["--duration", all, "--warmup", "0", "--b", against];
            let forks = if against == "off" { &[][..] } else { &["--fork-seconds", fork] };
            assert_refused(&compare(&home, &[&timing[..], forks, rest].concat()), 1, parts);
        }
    };
    check(&["--", &java, "--refuse", "ZGC:use-another"], &["ZGC:use-another"]);
    check(&["--", &java, "--ends-after", "0.5", "--status", "3"], &["java exited with status 3"]);
    check(&["--", "/bin/true"], &["before a JVM with terrace started"]);
    let workload = ["--workload", "alloc", "--java", &java];
    check(
        &[&workload[..], &["--jvm-arg=--checks", "--jvm-arg=sum-differs"]].concat(),
        &["sum-differs", "no ratio"],
    );
}

#[test]
fn a_program_that_is_too_short_for_windows() {
    let home = home();
    let java = home.java();
    let times = ["--warmup", "0", "--window", "500ms", "--duration", "60s"];
    let output = compare(&home, &[&times[..], &["--", &java, "--ends-after-switches", "3"]].concat());
    assert_refused(&output, 1, &["pairs of windows", "--duration"]);
    let output = compare(&home, &["--warmup", "600s", "--", &java, "--ends-after", "0.5"]);
    assert_refused(&output, 1, &["ended during its warm-up", "--forks"]);
}

#[test]
fn a_failure_leaves_the_earlier_result() {
    let home = home();
    let (java, folder) = (home.java(), home.path("results"));
    std::fs::create_dir(&folder).unwrap();
    let kept = folder.join("kept.json");
    std::fs::write(&kept, "earlier").unwrap();
    for out in [kept.clone(), folder.join("new.json")] {
        let failing = ["--out", &text(&out), "--", &java, "--refuse", "ZGC:use-another"];
        assert_refused(&compare(&home, &failing), 1, &["ZGC:use-another"]);
    }
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "earlier");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1, "nothing new");
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    let home = home();
    let java = home.java();
    let mark = home.path("pid");
    let script = home.script("app.sh", &format!("echo $$ > '{}'; exec '{java}' x", text(&mark)));
    let mut child =
        home.terrace(&["compare", "--", &text(&script)]).stderr(std::process::Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    let pid = loop {
        let text = std::fs::read_to_string(&mark).unwrap_or_default();
        if text.ends_with('\n') {
            break text.trim().to_owned();
        }
        assert!(started.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    };
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
}

/// As `nohup terrace compare ... &` when the connection is lost.
#[test]
fn a_signal_that_it_was_started_to_ignore_ends_nothing() {
    let home = home();
    let mark = home.path("begun");
    let script = home.script("app.sh", &format!("echo begun > '{}'; exec '{}' x", text(&mark), home.java()));
    let script = text(&script);
    let words = [&["compare"][..], &SHORT, &ENOUGH, &["--format", "json", "--", &script]].concat();
    let mut command = home.terrace(&words);
    // SAFETY: between fork and exec only this system call is made, which is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_IGN);
            Ok(())
        });
    }
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while !mark.exists() {
        assert!(started.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
    jvm::os::signal(child.id(), libc::SIGHUP);
    about_two(&json(&child.wait_with_output().unwrap())["ratio"]);
}

#[test]
fn a_real_jvm_that_cannot_load_the_agent() {
    let Some(java) = real_java() else { return };
    let home = home();
    std::fs::write(home.path("libterrace.so"), "").unwrap();
    let output = compare(&home, &["--", &java, "-version"]);
    assert_refused(&output, 1, &["cannot load", "libterrace.so", "use Terrace's archive"]);
}
