//! JVMs with a workload, and what `terrace doctor` says of them.
#![allow(dead_code, reason = "each test binary uses its part")]

use crate::installed::{Busy, PATIENCE, installed, jar, java, output, stderr, stdout};
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// A stock JVM with a workload, ended when dropped.
pub fn start(flags: &[&str], workload: &[&str]) -> Option<Busy> {
    let folder = installed()?;
    let mut command = Command::new(java());
    command.args(["-Xmx256m", "-XX:+EnableDynamicAgentLoading"]).args(flags).arg("-jar").arg(jar(&folder));
    command.args(workload).args(["--seconds", "600"]).env_remove("JAVA_TOOL_OPTIONS");
    let child: Child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    Some(Busy(child))
}

/// What it says of a JVM, once that is far enough to be asked.
pub fn report(jvm: &Busy) -> Value {
    report_of(jvm.0.id())
}

pub fn report_of(pid: u32) -> Value {
    let (pid, until) = (pid.to_string(), Instant::now() + PATIENCE);
    loop {
        let answer = output(&["doctor", &pid, "--seconds", "2", "--format", "json"]);
        if answer.status.success() {
            let report: Value = serde_json::from_slice(&answer.stdout).unwrap();
            // The warm-up allocates little.
            if report["evidence"]["allocation"]["used"].as_f64() > Some(1e6) {
                return report;
            }
        }
        assert!(Instant::now() < until, "{}{}", stdout(&answer), stderr(&answer));
    }
}

pub fn rules(report: &Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().filter_map(|found| found["rule"].as_str()).collect()
}

pub fn finding<'a>(report: &'a Value, rule: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().find(|found| found["rule"] == rule).unwrap_or_else(|| panic!("no '{rule}' in {report:#}"))
}
