//! One JVM that runs a workload in whole rounds: `terrace-workloads.jar profile`.

use crate::places::installed;
use jvm::jdk::{Collector, Jdk};
use jvm::launch::Launch;
use jvm::progress_file::{Phase, ProgressFile};
use jvm::running::Running;
use jvm::workload::Workload;
use jvm::{Error, Result};
use present::progress::Progress;
use serde::Deserialize;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Longer than this no run takes, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(300);
/// How often progress is looked at.
const POLL: Duration = Duration::from_millis(200);
/// A terminal sees every round; a log sees a line for so many.
const ROUNDS_A_LINE: u64 = 8;

/// What is run, and for how long.
pub struct Run<'a> {
    pub workload: Workload,
    pub jdk: &'a Jdk,
    /// Flags besides the collector.
    pub flags: &'a [&'a str],
    /// Rounds before the measured ones.
    pub warmup_rounds: u64,
    /// Rounds that are measured.
    pub rounds: u64,
    /// The folder for progress and dumps.
    pub folder: &'a Path,
    /// Whether the heap is dumped before and after the measured rounds.
    pub dumps: bool,
}

/// What the JVM tells of it.
#[derive(Debug, Deserialize)]
pub struct Report {
    pub facts: Facts,
    /// Calls of the compiler in a round.
    pub batches_in_round: u64,
    pub rounds: Vec<Round>,
}

/// What a round compiles.
#[derive(Debug, Deserialize)]
pub struct Facts {
    pub source_files: u64,
    pub source_lines: u64,
    /// Bytes of the class files that come out.
    pub class_bytes: u64,
}

#[derive(Debug, Deserialize)]
pub struct Round {
    /// CPU time of its thread in nanoseconds.
    pub cpu_ns: f64,
    /// Bytes that its thread allocated, by the JVM's own count.
    pub allocated_bytes: f64,
    /// Collections meanwhile.
    pub collections: u64,
}

impl Run<'_> {
    /// Runs it; `what` is shown meanwhile, with the seconds that it should take.
    pub fn run(&self, what: &str, seconds: u64) -> Result<Report> {
        let progress_path = self.folder.join("progress");
        let mut running = Running::start(&self.launch(&progress_path)?, false)?;
        let progress = Progress::on_standard_error();
        progress.start(what, Duration::from_secs(seconds));
        let mut file = ProgressFile::at(&progress_path);
        let mut shown = 0;
        while running.wait(POLL)?.is_none() {
            let elapsed = running.started().elapsed();
            if elapsed > LIMIT {
                return Err(Error::failed(format!(
                    "{what}: not finished after {} s; use an idle machine",
                    LIMIT.as_secs()
                )));
            }
            progress.passed(elapsed);
            let phase = file.phase();
            let rounds = file.operations().unwrap_or(0);
            let text = self.stage(phase, rounds);
            if rounds >= shown + ROUNDS_A_LINE {
                shown = rounds;
                progress.line(&text);
            }
            progress.say(text);
        }
        running.check()?;
        progress.finish();
        // A later run makes its own.
        let _ = std::fs::remove_file(&progress_path);
        let output = running.output();
        let report: Report = serde_json::from_str(output.lines().last().unwrap_or_default())
            .map_err(|error| Error::failed(format!("{what}: the last line is not a result ({error})")))?;
        if report.rounds.is_empty() || report.rounds.iter().any(|round| round.cpu_ns <= 0.0) {
            return Err(Error::failed(format!("{what}: this JVM does not count the CPU time of a thread")));
        }
        Ok(report)
    }

    fn stage(&self, phase: Phase, rounds: u64) -> String {
        match phase {
            Phase::Starting | Phase::Ready => "starting".into(),
            Phase::WarmingUp => format!("warming up: {rounds} of {} compiles", self.warmup_rounds),
            Phase::Measuring | Phase::Finished => {
                format!(
                    "measuring: {} of {} compiles",
                    rounds.saturating_sub(self.warmup_rounds),
                    self.rounds
                )
            }
        }
    }

    fn launch(&self, progress: &Path) -> Result<Launch> {
        let install = installed();
        let mut arguments: Vec<OsString> =
            self.jdk.select(Collector::Parallel)?.into_iter().map(OsString::from).collect();
        arguments.extend(self.flags.iter().map(OsString::from));
        arguments.extend(["-jar".into(), install.workloads()?.into_os_string()]);
        arguments.extend(["profile".into(), self.workload.name().into()]);
        let mut option = |name: &str, value: OsString| arguments.extend([name.into(), value]);
        option("--sources", install.sources()?.into_os_string());
        option("--warmup-rounds", self.warmup_rounds.to_string().into());
        option("--rounds", self.rounds.to_string().into());
        option("--progress", progress.into());
        if self.dumps {
            option("--dumps", self.folder.into());
        }
        Ok(Launch::new(self.jdk.java(), arguments))
    }
}
