//! JVMs that run a program, each of which measures itself: several in one window, or one.

use crate::{Error, Result};
use compare::latency::BEYOND;
use jvm::agent::AgentOptions;
use jvm::application::Application;
use jvm::heap_log;
use jvm::install::Install;
use jvm::jdk::Jdk;
use jvm::launch::Launch;
use jvm::observe::Jvms;
use jvm::together::{self, Member};
use jvm::workload::Report;
use serde::Deserialize;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// What the driver says besides what every workload says.
#[derive(Clone, Debug, Deserialize)]
struct Times {
    p50_ms: f64,
    p99_ms: f64,
    p999_ms: f64,
    /// Operations that these are of.
    timed_operations: f64,
    peak_resident_bytes: f64,
}

impl Times {
    /// A percentile that this share of the operations exceeds, unless these are too few for it.
    fn percentile(&self, share: f64, time: f64) -> Option<f64> {
        (share * self.timed_operations >= BEYOND).then_some(time)
    }
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

    pub fn operations(&self) -> f64 {
        self.report.operations
    }

    /// A metric's value, if the program could measure it.
    pub fn get(&self, metric: &str) -> Option<f64> {
        let Report { operations, seconds, cpu_seconds, collections, collection_seconds, .. } = self.report;
        let collections = collections.map(|count| count as f64);
        match metric {
            "speed" | "rate" => Some(operations / seconds),
            "cpu" => cpu_seconds.map(|cpu| operations / cpu),
            "collections" => collections.map(|count| count / operations),
            "pauses" => collection_seconds.map(|time| time / operations),
            // In %.
            "stopped" => collection_seconds.map(|time| 100.0 * time / seconds),
            "heap" => self.heap_used.map(|used| used / operations),
            "p50" => self.times.percentile(0.5, self.times.p50_ms),
            "p99" => self.times.percentile(0.01, self.times.p99_ms),
            "p999" => self.times.percentile(0.001, self.times.p999_ms),
            // In MB.
            "resident" => Some(self.times.peak_resident_bytes / 1e6),
            "count" => collections,
            _ => None,
        }
    }
}

/// A program, and how its JVMs are run.
pub(super) struct Forks<'a> {
    pub program: &'a Application,
    pub jdk: &'a Jdk,
    /// The JVM's flags on all sides.
    pub flags: &'a [String],
    /// Before a JVM alone is measured.
    pub warmup: u64,
    /// What a JVM alone is measured for; several at the same time get as much of the CPUs, and take longer.
    pub seconds: u64,
    pub install: &'a Install,
    /// Where programs unpack what they bring: what is in memory (`/dev/shm`) may be small, and nothing may be executed there.
    pub scratch: &'a Path,
}

/// A side: its agent or none, and its flags.
pub(super) type ForkSide<'a> = (Option<AgentOptions>, &'a [&'a str]);

impl Forks<'_> {
    /// Runs JVMs of these sides at the same time, started in this order, and measures all in one window.
    pub fn run(&self, sides: &[ForkSide]) -> Result<Vec<ForkResult>> {
        let unpacked = sides.iter().map(|_| self.folder()).collect::<Result<Vec<_>>>()?;
        let start = |(side, unpacked): (_, &TempDir)| self.start(side, unpacked.path());
        let mut members = sides.iter().zip(&unpacked).map(start).collect::<Result<Vec<_>>>()?;
        let share = sides.len() as u64;
        let seconds = |alone: u64| Duration::from_secs(share * alone);
        let reports = together::measure(&mut members, seconds(self.warmup), seconds(self.seconds))?;
        members.iter_mut().zip(reports).map(|(member, report)| Self::result(member, report)).collect()
    }

    /// For what one JVM unpacks.
    fn folder(&self) -> Result<TempDir> {
        tempfile::tempdir_in(self.scratch).map_err(|error| {
            Error::failed(format!(
                "{} cannot be written to: {error}; set TMPDIR to a writable directory",
                self.scratch.display()
            ))
        })
    }

    fn start(&self, (agent, more): &ForkSide, unpacked: &Path) -> Result<Member> {
        let mut jvms = Jvms::new()?;
        let mut arguments: Vec<OsString> = Vec::new();
        if let Some(agent) = agent {
            arguments.push(jvms.options(agent).flag(&self.install.agent()?)?.into());
        }
        arguments.extend(self.flags.iter().map(OsString::from));
        arguments.extend(more.iter().map(OsString::from));
        arguments.push(heap_log::flag(&log(&jvms)).into());
        arguments.extend(self.program.arguments(self.jdk, self.install, unpacked)?);
        arguments.extend(together::options(&together::progress_in(&jvms)));
        let launch = Launch::new(self.jdk.java(), arguments);
        Member::start(self.program.name, &launch, jvms, agent.is_some(), false)
    }

    fn result(member: &mut Member, report: Report) -> Result<ForkResult> {
        let heap_used =
            report.measured().and_then(|(from, to)| heap_log::used_up(&log(&member.jvms), from, to));
        let found = ForkResult::read(&member.output(), member.jvms.settings())?;
        Ok(ForkResult { heap_used, ..found })
    }
}

fn log(jvms: &Jvms) -> PathBuf {
    jvms.directory().join("heap")
}

/// What is kept of a side.
pub(super) fn kept(outcome: &ForkResult, flags: &[&str]) -> Value {
    json!({ "measured": outcome.line, "agent": outcome.settings, "flags": flags })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"workload":"h2","operation":"transfer","operations":100,"seconds":2.0,"cpu_seconds":4.0,"allocated_bytes":null,
        "collections":3,"collection_seconds":0.1,"p50_ms":0.1,"p99_ms":2.5,"p999_ms":9.0,"timed_operations":1000,"peak_resident_bytes":1048576,"checks":"passed"}"#;

    #[test]
    fn every_metric_is_read_from_the_last_line() {
        let line = LINE.replace('\n', "");
        let outcome = ForkResult::read(&format!("warming up\n{line}\n"), Value::Null).unwrap();
        let expected =
            [("speed", 50.0), ("cpu", 25.0), ("collections", 0.03), ("pauses", 0.001), ("p99", 2.5)];
        let own = [("rate", 50.0), ("stopped", 5.0), ("resident", 1.048_576), ("count", 3.0)];
        for (metric, value) in expected.into_iter().chain(own) {
            assert_eq!(outcome.get(metric), Some(value), "{metric}");
        }
        // One operation of 1000 says nothing of the slowest thousandth.
        assert_eq!(outcome.get("p999"), None);
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
