//! JVMs with a workload, and what `terrace doctor` says of them.
#![allow(dead_code, reason = "each test binary uses its part")]

use crate::cpus::limit_cpus;
use crate::installed::{Busy, PATIENCE, installed, jar, java, output, stderr, stdout};
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

/// A stock JVM with a workload, ended when dropped. What is asked of it takes its memory.
pub fn start(flags: &[&str], workload: &[&str]) -> Option<Busy> {
    start_on(None, flags, workload)
}

/// The same, on so many CPUs.
pub fn start_on(cpus: Option<usize>, flags: &[&str], workload: &[&str]) -> Option<Busy> {
    let folder = installed().filter(|_| memory_is_readable())?;
    let mut command = Command::new(java());
    command.args(["-Xmx256m", "-XX:+EnableDynamicAgentLoading"]).args(flags).arg("-jar").arg(jar(&folder));
    command.args(workload).args(["--seconds", "86400"]).env_remove("JAVA_TOOL_OPTIONS");
    if let Some(cpus) = cpus {
        limit_cpus(&mut command, cpus);
    }
    let child: Child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    Some(Busy(child))
}

/// Whether a process may read the memory of one that it did not start, as the doctor does for the use of eden. Otherwise the test is skipped.
pub fn memory_is_readable() -> bool {
    static READABLE: OnceLock<bool> = OnceLock::new();
    let readable = *READABLE.get_or_init(|| {
        let mut other = Command::new("sleep").arg("600").spawn().unwrap();
        let open = format!(": < /proc/{}/mem", other.id());
        let opened = Command::new("sh").args(["-c", &open]).stderr(Stdio::null()).status().unwrap();
        other.kill().unwrap();
        other.wait().unwrap();
        opened.success()
    });
    if !readable {
        skips::skip!("another process's memory: set kernel.yama.ptrace_scope to 0, or run as root");
    }
    readable
}

/// What it says of a JVM, once that is far enough to be asked.
pub fn report(jvm: &Busy) -> Value {
    report_of(jvm.0.id())
}

pub fn report_of(pid: u32) -> Value {
    // The warm-up allocates little.
    report_when(pid, |report| report["evidence"]["allocation"]["used"].as_f64() > Some(1e6))
}

/// The first report that has what is waited for.
pub fn report_when(pid: u32, ready: impl Fn(&Value) -> bool) -> Value {
    let (pid, until) = (pid.to_string(), Instant::now() + PATIENCE);
    loop {
        let answer = output(&["doctor", &pid, "--seconds", "2", "--format", "json"]);
        let report: Value = serde_json::from_slice(&answer.stdout).unwrap_or_default();
        if answer.status.success() && ready(&report) {
            return report;
        }
        assert!(Instant::now() < until, "{}{}", stdout(&answer), stderr(&answer));
    }
}

/// Not where it was seen from outside alone, because it could not be asked yet.
fn has_started(report: &Value) -> bool {
    !report["evidence"]["missing"].to_string().contains("it is still starting")
}

/// The first report that has this finding: a short look at a busy program may have too little of it.
pub fn report_finding(jvm: &Busy, rule: &str) -> Value {
    report_when(jvm.0.id(), |report| has_started(report) && rules(report).contains(&rule))
}

/// The first that advises all of these, by their text. In a program that gets little of a busy machine fewer collections may not pay.
pub fn report_advising(jvm: &Busy, remedies: &[&str]) -> Value {
    report_when(jvm.0.id(), |report| remedies.iter().all(|remedy| advised(report, remedy).is_some()))
}

/// The advice with this remedy.
pub fn advised<'a>(report: &'a Value, remedy: &str) -> Option<&'a Value> {
    let of = |finding: &'a Value| finding["advice"].as_array().into_iter().flatten();
    let text = |advice: &Value| match (&advice["remedy"]["kind"], &advice["remedy"]["what"]) {
        (kind, _) if *kind == "terrace" => "terrace".to_owned(),
        (_, Value::Array(flags)) => flags.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        (_, what) => what.as_str().unwrap_or_default().to_owned(),
    };
    report["findings"].as_array()?.iter().flat_map(of).find(|advice| text(advice) == remedy)
}

/// What a command answers as JSON, once that is as it is waited for.
pub fn answer_when(words: &[&str], ready: impl Fn(&Value) -> bool) -> Value {
    let until = Instant::now() + PATIENCE;
    loop {
        let answer = output(words);
        let report: Value = serde_json::from_slice(&answer.stdout).unwrap_or_default();
        if answer.status.success() && ready(&report) {
            return report;
        }
        assert!(Instant::now() < until, "{}{}", stdout(&answer), stderr(&answer));
    }
}

/// Whether a trial of this remedy stands first.
pub fn tries_first(report: &Value, remedy: &str) -> bool {
    report["trials"][0]["remedy"] == remedy
}

/// What can be seen from outside of a JVM that collects, and nothing that takes the agent; `why` is the reason that is given.
pub fn assert_seen_from_outside(report: &Value, why: &str) {
    let evidence = &report["evidence"];
    assert!(evidence["missing"].to_string().contains(why), "'{why}' in {report:#}");
    assert!(evidence["allocation"].is_null() && evidence["refills"].is_null(), "{report:#}");
    // HotSpot's own counters, and what the kernel knows.
    let number =
        |of: &str, name: &str| evidence[of][name].as_f64().unwrap_or_else(|| panic!("{name} of {report:#}"));
    for (of, name) in [
        ("eden", "bytes"),
        ("eden", "collections"),
        ("eden", "stopped"),
        ("threads", "alive"),
        ("memory", "resident"),
    ] {
        assert!(number(of, name) > 0.0, "{name} of {report:#}");
    }
    assert!(evidence["application_cpu"].as_f64() > Some(0.0), "{report:#}");
    let told = |name: &str| evidence["jvm"][name].as_str().unwrap().to_owned();
    assert!(told("version").starts_with(|c: char| c.is_ascii_digit()), "{report:#}");
    assert_ne!(told("collector"), "unknown", "{report:#}");
    // Where nobody says how large the heap may be, no young generation is named that may not fit in it.
    if evidence["missing"].to_string().contains("flags") {
        assert!(!report["findings"].to_string().contains("\"flags\""), "{report:#}");
    }
    // Who refuses it, or does not answer, is not advised to take it.
    assert!(!report["findings"].to_string().contains("\"terrace\""), "{report:#}");
}

/// Whether there was a collection while it was watched, to its end: HotSpot counts it when it begins, and its time when it is over.
pub fn collects(report: &Value) -> bool {
    let eden = &report["evidence"]["eden"];
    eden["collections"].as_u64() > Some(0) && eden["stopped"].as_f64() != Some(0.0)
}

/// Whether it refilled TLABs meanwhile, which the agent counts.
pub fn refills(report: &Value) -> bool {
    report["evidence"]["refills"]["quick"]["count"].as_u64() > Some(0)
}

pub fn rules(report: &Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().filter_map(|found| found["rule"].as_str()).collect()
}

pub fn finding<'a>(report: &'a Value, rule: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().find(|found| found["rule"] == rule).unwrap_or_else(|| panic!("no '{rule}' in {report:#}"))
}
