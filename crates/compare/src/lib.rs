//! Two ways of running one Java program, in pairs. [`Comparison::run`] is the one call; it gives an [`ComparisonResult`].
//!
//! | part | what it is |
//! |---|---|
//! | [`windows`], `process` | buffers on and off in turn inside one JVM |
//! | [`evidence`] | stops and single calls, laid beside the windows |
//! | [`estimate`], [`stopping`] | from windows to ratios that can tell 3 %, and when there are enough of them |
//! | `forks`, [`fixed`] | whole JVMs in turn, A B B A; one that does fixed work |
//! | [`measure`], [`summary`] | from what was counted to ratios with intervals |
//! | [`result`], [`show`] | the JSON, the table |
//! | [`machine`], [`noise`] | where it was measured, and what else happened there |
//!
//! A comparison that failed is an [`jvm::Error`], never a ratio.

#![allow(missing_docs, reason = "not published")]

pub mod clock;
pub mod estimate;
pub mod evidence;
pub mod fixed;
mod forks;
pub mod machine;
pub mod measure;
pub mod noise;
mod process;
pub mod result;
pub mod show;
pub mod stopping;
pub mod summary;
pub mod windows;

use crate::machine::Host;
use crate::measure::{Amount, Pair};
use crate::result::{ComparisonResult, SCHEMA, Sides};
use crate::stopping::Precision;
use control::Mode;
use jvm::agent::{AgentOptions, Levels};
use jvm::archive;
use jvm::install::Install;
use jvm::jdk::Jdk;
use jvm::launch::Launch;
use jvm::workload::{self, Parameters, Workload};
use jvm::{Error, Result};
use present::progress::Progress;
use serde_json::Value;
use statistics::{RESAMPLES, verdict};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// The program that is run.
#[derive(Clone, Debug)]
pub enum Program {
    /// One of ours.
    Workload(Workload, Parameters, Jdk),
    /// The user's.
    Command(Vec<OsString>),
}

impl Program {
    /// The command line with these flags for its JVM.
    pub fn launch(
        &self,
        flags: &[String],
        progress: Option<&Path>,
        calls: Option<&Path>,
        install: &Install,
    ) -> Result<Launch> {
        match self {
            Program::Workload(workload, parameters, jdk) => {
                workload::launch(*workload, parameters, jdk, flags, (progress, calls), install)
            }
            Program::Command(words) => {
                let mut launch = Launch::command(words)?;
                launch.inject(flags);
                Ok(launch)
            }
        }
    }

    /// The same, running for so long; a program of the user's is as it is.
    pub fn for_seconds(&self, seconds: u64, warmup: Duration) -> Program {
        match self {
            Program::Workload(workload, parameters, jdk) => {
                let warmup = Some(warmup.as_secs_f64().ceil() as u64);
                let parameters = Parameters { seconds: Some(seconds), warmup, ..parameters.clone() };
                Program::Workload(*workload, parameters, jdk.clone())
            }
            Program::Command(_) => self.clone(),
        }
    }

    /// Whether it can record what each of its calls takes.
    pub fn records_calls(&self) -> bool {
        matches!(self, Program::Workload(Workload::Javac, ..))
    }

    /// Whether it is one of ours.
    pub fn is_workload(&self) -> bool {
        matches!(self, Program::Workload(..))
    }
}

/// How the two sides are put beside each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// In one JVM: the first mode is side a, the second side b. The same on both sides shows what measuring itself adds.
    Windows {
        /// A window's length, at least.
        window: Duration,
        /// What is not counted of it.
        skip: Duration,
        /// The sides.
        modes: [Mode; 2],
        /// The end comes before the duration is over when this is reached.
        precision: Option<Precision>,
    },
    /// Whole JVMs in turn, A B B A: Terrace against stock.
    Forks {
        /// The measured length of a fork.
        fork: Duration,
    },
}

/// What to compare, and how.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub program: Program,
    /// Side a's agent.
    pub agent: AgentOptions,
    /// Flags for the JVM on both sides: the collector and the like.
    pub flags: Vec<String>,
    /// How.
    pub method: Method,
    /// Time before a JVM is measured.
    pub warmup: Duration,
    /// Time measured, in all.
    pub duration: Duration,
    /// Of order and resampling.
    pub seed: u64,
    /// Pass the program's output on to standard error.
    pub show: bool,
    pub install: Install,
}

/// What a method has measured.
pub(crate) struct Measured {
    pub pairs: Vec<Pair>,
    /// `None` lets the pairs decide.
    pub amount: Option<Amount>,
    /// What an operation is, where the program says so.
    pub operation: Option<String>,
    pub names: [&'static str; 2],
    pub settings: [Value; 2],
    pub flags: [Vec<String>; 2],
    pub command: String,
    /// A window's length, where there are windows.
    pub window: Option<Duration>,
    pub notes: Vec<String>,
}

impl Comparison {
    pub fn run(&self, progress: &Progress) -> Result<ComparisonResult> {
        self.check()?;
        let machine = Host::here();
        let measured = match self.method {
            Method::Windows { window, skip, modes, precision } => {
                process::measure(self, (window, skip), modes, precision, progress)?
            }
            Method::Forks { fork } => forks::measure(self, fork, progress)?,
        };
        progress.finish();
        self.outcome(measured, machine)
    }

    fn check(&self) -> Result<()> {
        if let Some(option) =
            archive::written_by(&self.program.launch(&self.flags, None, None, &self.install)?)
        {
            return Err(Error::usage(format!(
                "{option} writes a class data archive, which HotSpot does not do with any native agent; compare runs that use \
                 the finished archive (-XX:SharedArchiveFile)"
            )));
        }
        if let Method::Windows { window, skip, .. } = self.method {
            if self.agent.levels() == Levels::None {
                return Err(Error::usage(
                    "--levels none has no buffers to switch on; name some, or use --against stock",
                ));
            }
            if window <= skip {
                return Err(Error::usage(
                    "--window must be longer than --skip; the default 100 ms and 5 ms are a good start",
                ));
            }
            if 4 * window > self.duration {
                return Err(Error::usage(
                    "--duration has no room for a pair (four windows); make it longer or --window shorter",
                ));
            }
        }
        Ok(())
    }

    fn outcome(&self, measured: Measured, machine: Host) -> Result<ComparisonResult> {
        let Measured { pairs, amount, operation, names, settings, flags, command, window, mut notes } =
            measured;
        let (amount, coarse) = match amount {
            Some(amount) => (amount, None),
            None => summary::choose(&pairs),
        };
        notes.extend(coarse);
        let own_process = matches!(self.method, Method::Forks { .. });
        let found = summary::summarise(&pairs, amount, own_process.then_some(names), self.seed)?;
        let estimate = if own_process { None } else { estimate::estimate(&pairs, amount) };
        notes.extend(found.notes);
        if let Some(load) = machine.load_before.filter(|load| *load > 0.5 * machine.cpus as f64) {
            notes.push(format!(
                "the machine was busy when this began (load {load:.1} on {} CPUs); compare again when it is quiet",
                machine.cpus
            ));
        }
        let jdk = match &self.program {
            Program::Workload(_, _, jdk) => jdk.describe(),
            Program::Command(_) => {
                settings[0]["jdk"].as_str().unwrap_or("unavailable: the agent did not say").to_owned()
            }
        };
        let [settings_a, settings_b] = settings;
        let [flags_a, flags_b] = flags;
        let a = summary::side(&pairs, 0, amount, names[0], settings_a, flags_a, self.seed);
        let b = summary::side(&pairs, 1, amount, names[1], settings_b, flags_b, self.seed);
        let (metric, unit) = match amount {
            Amount::Operations => (operation.unwrap_or_else(|| "operations".into()), "operations/s"),
            Amount::Bytes => ("bytes allocated".into(), "bytes/s"),
            Amount::Runs => ("whole runs".into(), "runs/s"),
        };
        let rates = a.collections_rate.zip(b.collections_rate);
        let (window, skip, fork, precision) = match self.method {
            Method::Windows { skip, precision, .. } => {
                (window, Some(skip), None, precision.map(|Precision(share)| share))
            }
            Method::Forks { fork } => (None, None, Some(fork), None),
        };
        // The estimate's where there is one. It has what the other lacks: no pause falls to a side by chance.
        let ratio = estimate.as_ref().map_or(found.ratio, |estimate| estimate.per_second);
        let ratio_cpu = match &estimate {
            Some(estimate) => estimate.per_application_second.or(found.ratio_cpu),
            None => found.ratio_cpu,
        };
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        Ok(ComparisonResult {
            schema: SCHEMA,
            terrace: env!("CARGO_PKG_VERSION").into(),
            metric,
            unit: unit.into(),
            mode: if fork.is_some() { "forks" } else { "process" }.into(),
            pairs: found.pairs,
            ratio,
            ratio_cpu,
            estimate,
            collections_ratio: rates.filter(|(_, b)| *b > 0.0).map(|(a, b)| a / b),
            verdict: verdict(&ratio, found.pairs),
            sides: Sides { a, b },
            method: result::Method {
                seconds: pairs.iter().map(|pair| pair.a.seconds + pair.b.seconds).sum(),
                warmup_seconds: self.warmup.as_secs_f64(),
                window_ms: window.map(milliseconds),
                skip_ms: skip.map(milliseconds),
                fork_seconds: fork.map(|time| time.as_secs_f64()),
                precision,
                seed: self.seed,
                resamples: RESAMPLES,
            },
            machine,
            jdk,
            command,
            notes,
            ratios: found.ratios,
        })
    }
}
