//! One JVM that runs a program to its end and measures itself.

use crate::{Error, Result};
use jvm::agent::AgentOptions;
use jvm::application::Application;
use jvm::arrival::await_agent;
use jvm::heap_log;
use jvm::install::Install;
use jvm::jdk::Jdk;
use jvm::launch::Launch;
use jvm::observe::Jvms;
use jvm::running::Running;
use jvm::workload::Report;
use serde::Deserialize;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::time::Duration;

/// How much longer than asked a program may take to begin and to end.
const SLACK: Duration = Duration::from_secs(180);

/// What the driver says besides what every workload says.
#[derive(Clone, Debug, Deserialize)]
struct Times {
    p50_ms: f64,
    p99_ms: f64,
    p999_ms: f64,
    peak_resident_bytes: f64,
}

/// What a program measured of itself.
#[derive(Clone, Debug)]
pub(super) struct ForkResult {
    report: Report,
    times: Times,
    /// The line as it was written.
    pub line: Value,
    /// The agent's settings in force; `null` without an agent.
    pub settings: Value,
    /// Bytes of the heap used up in the measured time.
    heap_used: Option<f64>,
}

impl ForkResult {
    pub fn read(output: &str, settings: Value) -> Result<ForkResult> {
        let report = Report::read(output)?;
        let line = output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let unreadable = |error: serde_json::Error| {
            Error::failed(format!(
                "the program's last line has no latencies ({error}); rebuild it with 'cargo xtask applications --fetch'"
            ))
        };
        let line: Value = serde_json::from_str(line).map_err(unreadable)?;
        let times = Times::deserialize(&line).map_err(unreadable)?;
        Ok(ForkResult { report, times, line, settings, heap_used: None })
    }

    /// A metric's value, if the program could measure it.
    pub fn get(&self, metric: &str) -> Option<f64> {
        let Report { operations, seconds, cpu_seconds, collections, collection_seconds, .. } = self.report;
        let collections = collections.map(|count| count as f64);
        match metric {
            "speed" => Some(operations / seconds),
            "cpu" => cpu_seconds.map(|cpu| operations / cpu),
            "collections" => collections.map(|count| count / operations),
            "pauses" => collection_seconds.map(|time| time / operations),
            "heap" => self.heap_used.map(|used| used / operations),
            "p50" => Some(self.times.p50_ms),
            "p99" => Some(self.times.p99_ms),
            "p999" => Some(self.times.p999_ms),
            "resident" => Some(self.times.peak_resident_bytes),
            "count" => collections,
            _ => None,
        }
    }
}

/// A program in a JVM.
pub(super) struct Fork<'a> {
    pub program: &'a Application,
    pub jdk: &'a Jdk,
    /// The JVM's flags on all sides.
    pub flags: &'a [String],
    pub seconds: u64,
    pub install: &'a Install,
}

impl Fork<'_> {
    /// Runs it to its end, with an agent or without, and further flags.
    pub fn run(&self, agent: Option<&AgentOptions>, more: &[&str]) -> Result<ForkResult> {
        let mut jvms = Jvms::new()?;
        let mut arguments: Vec<OsString> = Vec::new();
        if let Some(agent) = agent {
            arguments.push(jvms.options(agent).flag(&self.install.agent()?)?.into());
        }
        arguments.extend(self.flags.iter().map(OsString::from));
        arguments.extend(more.iter().map(OsString::from));
        let log = jvms.directory().join("heap");
        arguments.push(heap_log::flag(&log).into());
        arguments.extend(self.program.arguments(self.jdk, self.install, jvms.directory())?);
        let numbers = [("--seconds", self.seconds), ("--warmup", self.program.warmup)];
        arguments.extend(numbers.iter().flat_map(|(name, value)| [(*name).into(), value.to_string().into()]));
        let mut running = Running::start(&Launch::new(self.jdk.java(), arguments), false)?;
        if agent.is_some() {
            await_agent(&mut running, &mut jvms)?;
        }
        let limit = Duration::from_secs(self.seconds + self.program.warmup) + SLACK;
        if running.wait(limit)?.is_none() {
            let name = self.program.name;
            return Err(Error::failed(format!(
                "{name} did not finish within {} s; reduce --seconds, or use a less busy machine",
                limit.as_secs()
            )));
        }
        running.check()?;
        let mut found = ForkResult::read(&running.output(), jvms.settings())?;
        found.heap_used = found.report.measured().and_then(|(from, to)| heap_log::used_up(&log, from, to));
        Ok(found)
    }
}

/// What is kept of a side.
pub(super) fn kept(outcome: &ForkResult, flags: &[&str]) -> Value {
    json!({ "measured": outcome.line, "agent": outcome.settings, "flags": flags })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"workload":"h2","operation":"transfer","operations":100,"seconds":2.0,"cpu_seconds":4.0,"allocated_bytes":null,
        "collections":3,"collection_seconds":0.1,"p50_ms":0.1,"p99_ms":2.5,"p999_ms":9.0,"peak_resident_bytes":1048576,"checks":"passed"}"#;

    #[test]
    fn every_metric_is_read_from_the_last_line() {
        let line = LINE.replace('\n', "");
        let outcome = ForkResult::read(&format!("warming up\n{line}\n"), Value::Null).unwrap();
        let expected =
            [("speed", 50.0), ("cpu", 25.0), ("collections", 0.03), ("pauses", 0.001), ("p99", 2.5)];
        for (metric, value) in expected.into_iter().chain([("resident", 1_048_576.0), ("count", 3.0)]) {
            assert_eq!(outcome.get(metric), Some(value), "{metric}");
        }
        assert_eq!(outcome.get("beauty"), None);
    }

    #[test]
    fn a_wrong_result_or_no_latencies_is_an_error() {
        let line = LINE.replace('\n', "");
        let wrong = ForkResult::read(&line.replace("passed", "a balance is wrong"), Value::Null);
        assert!(wrong.unwrap_err().to_string().contains("a balance is wrong"));
        let none = ForkResult::read(&line.replace("p99_ms", "p98_ms"), Value::Null).unwrap_err().to_string();
        assert!(none.contains("p99_ms") && none.contains("--fetch"), "{none}");
    }
}
