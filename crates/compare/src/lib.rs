//! Two ways of running one Java program, in pairs. [`Comparison::run`] is the one call; it gives an [`ComparisonResult`].
//!
//! | part | what it is |
//! |---|---|
//! | [`side`], [`words`] | what is compared: a JVM with the agent or without it, and its flags; as users write it |
//! | `check` | what is found out before a JVM is started |
//! | `flags`, `in_force` | which flag overrules which, and whether a side's are in force in its JVMs |
//! | [`windows`], `process` | buffers on and off in turn inside one JVM |
//! | [`in_place`] | the same in a JVM that somebody else has started |
//! | [`block`] | how windows lie in time: in fours, A B B A or B A A B |
//! | [`evidence`] | stops and single steps of work, laid beside the windows |
//! | [`latency`] | times of operations by side, where the program tells windows apart |
//! | [`estimate`], [`stopping`] | from windows to ratios that can tell 3 %, and when there are enough of them |
//! | [`forks`], [`fixed`] | whole JVMs, one after another or at the same time; some that do fixed work |
//! | [`measure`], [`summary`] | from what was counted to ratios with intervals |
//! | [`result`], [`show`] | the JSON, the table |
//! | [`memory`] | whether JVMs can run at the same time |
//! | [`machine`], [`noise`] | where it was measured, and what else happened there |
//!
//! A comparison that failed is an [`jvm::Error`], never a ratio.

#![allow(missing_docs, reason = "not published")]

pub mod block;
mod check;
pub mod clock;
pub mod estimate;
pub mod evidence;
pub mod exposure;
pub mod fixed;
mod flags;
pub mod forks;
mod in_force;
pub mod in_place;
pub mod latency;
pub mod machine;
pub mod measure;
pub mod memory;
pub mod noise;
mod process;
pub mod result;
mod same_work;
pub mod show;
pub mod side;
pub mod stopping;
pub mod summary;
pub mod windows;
pub mod words;

use crate::forks::Schedule;
use crate::latency::Latency;
use crate::machine::Host;
use crate::measure::{Amount, Pair};
use crate::result::{ComparisonResult, SCHEMA, Sides};
use crate::side::Side;
use crate::stopping::Precision;
use jvm::install::Install;
use jvm::jdk::Jdk;
use jvm::launch::Launch;
use jvm::workload::{self, Parameters, Workload};
use jvm::{Result, jvm_options};
use present::progress::Progress;
use serde_json::Value;
use statistics::{RESAMPLES, Verdict, verdict};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// For an order that no other run has: one for all would favour the same side in all of them where something recurs at the same time after
/// a program's start.
pub fn another_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() as u64
}

#[derive(Clone, Debug)]
pub enum Program {
    Workload(Workload, Parameters, Jdk),
    /// A program that is driven as ours are: `--seconds`, `--warmup`, `--progress` and the result on its last line.
    Driven {
        java: PathBuf,
        /// Behind the JVM's flags.
        arguments: Vec<OsString>,
        /// Whether it takes `--calls`, too.
        records_calls: bool,
    },
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
            Program::Driven { java, arguments, .. } => {
                let mut words: Vec<OsString> = flags.iter().map(OsString::from).collect();
                words.extend(arguments.iter().cloned());
                let files = [("--progress", progress), ("--calls", calls)];
                let files = files.into_iter().filter_map(|(name, file)| Some((name, file?)));
                words.extend(files.flat_map(|(name, file)| [name.into(), file.as_os_str().to_owned()]));
                Ok(Launch::new(java.clone(), words))
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
            Program::Driven { java, arguments, records_calls } => {
                let warmup = warmup.as_secs_f64().ceil() as u64;
                let times = [("--seconds", seconds), ("--warmup", warmup)];
                let times =
                    times.into_iter().flat_map(|(name, value)| [name.into(), value.to_string().into()]);
                Program::Driven {
                    java: java.clone(),
                    arguments: arguments.iter().cloned().chain(times).collect(),
                    records_calls: *records_calls,
                }
            }
            Program::Command(_) => self.clone(),
        }
    }

    /// The same, its measured window opened and closed by whoever reads its progress.
    pub fn with_external_window(&self) -> Program {
        match self {
            Program::Workload(workload, parameters, jdk) => {
                let parameters = Parameters { external_window: true, ..parameters.clone() };
                Program::Workload(*workload, parameters, jdk.clone())
            }
            Program::Driven { java, arguments, records_calls } => {
                let window = ["--window", "external"].map(OsString::from);
                let arguments = arguments.iter().cloned().chain(window).collect();
                Program::Driven { java: java.clone(), arguments, records_calls: *records_calls }
            }
            Program::Command(_) => self.clone(),
        }
    }

    /// Whether it can record what each of its calls takes.
    pub fn records_calls(&self) -> bool {
        matches!(self, Program::Workload(Workload::Javac, ..) | Program::Driven { records_calls: true, .. })
    }

    /// Whether it counts its operations, as ours do.
    pub fn is_workload(&self) -> bool {
        matches!(self, Program::Workload(..) | Program::Driven { .. })
    }
}

/// How the two sides are put beside each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// In one JVM that is switched between the sides, which differ in nothing else.
    Windows {
        /// A window's length, at least.
        window: Duration,
        /// What is not counted of it.
        skip: Duration,
        /// The end comes before the duration is over when this is reached.
        precision: Option<Precision>,
    },
    /// Whole JVMs, each side with its own agent and flags.
    Forks {
        /// The measured length of a fork.
        fork: Duration,
        schedule: Schedule,
    },
}

/// What to compare, and how. The same on both sides shows what measuring itself adds.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub program: Program,
    /// The side in question, and the one that it is compared with.
    pub sides: [Side; 2],
    /// Flags for the JVM on both sides: the collector and the like.
    pub flags: Vec<String>,
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
    /// What the program says of itself, where one JVM is both sides.
    pub report: Option<Value>,
    pub names: [String; 2],
    pub settings: [Value; 2],
    pub flags: [Vec<String>; 2],
    pub command: String,
    /// A window's length, where there are windows.
    pub window: Option<Duration>,
    pub latency: Option<Latency>,
    /// How forks were run.
    pub schedule: Option<Schedule>,
    pub notes: Vec<String>,
}

impl Comparison {
    pub fn run(&self, progress: &Progress) -> Result<ComparisonResult> {
        self.check()?;
        let machine = Host::here();
        let measured = match self.method {
            Method::Windows { window, skip, precision } => {
                process::measure(self, (window, skip), precision, progress)?
            }
            Method::Forks { fork, schedule } => forks::measure(self, (fork, schedule), progress)?,
        };
        progress.finish();
        self.outcome(measured, machine)
    }

    /// The flags of both, and then the side's own: of two that contradict each other HotSpot takes the last.
    fn flags_of(&self, side: &Side) -> Vec<String> {
        self.flags.iter().chain(&side.flags).cloned().collect()
    }

    /// All options of a side's JVM, in their order.
    fn options_of(&self, side: &Side) -> Result<Vec<String>> {
        let launch = self.program.launch(&self.flags_of(side), None, None, &self.install)?;
        Ok(jvm_options::of(&launch))
    }

    fn outcome(&self, measured: Measured, machine: Host) -> Result<ComparisonResult> {
        let Measured {
            pairs,
            amount,
            operation,
            report,
            names,
            settings,
            flags,
            command,
            window,
            latency,
            schedule,
            mut notes,
        } = measured;
        let (amount, coarse) = match amount {
            Some(amount) => (amount, None),
            None => summary::choose(&pairs),
        };
        notes.extend(coarse);
        let own_process = matches!(self.method, Method::Forks { .. });
        let found = summary::summarise(
            &pairs,
            amount,
            own_process.then_some(names.each_ref().map(String::as_str)),
            self.seed,
        )?;
        let estimate = if own_process { None } else { estimate::estimate(&pairs, amount) };
        notes.extend(found.notes);
        notes.extend(estimate.as_ref().and_then(|estimate| estimate::of_few_pauses(&pairs, estimate)));
        if self.sides[0] == self.sides[1] {
            notes.push("both sides are the same: differences are chance and measurement error".into());
        }
        if let Some(load) = machine.load_before.filter(|load| *load > 0.5 * machine.cpus as f64) {
            notes.push(format!(
                "the machine was busy at the start (load {load:.1} on {} CPUs); compare again when it is quiet",
                machine.cpus
            ));
        }
        let jdk = match &self.program {
            Program::Workload(_, _, jdk) => jdk.describe(),
            Program::Driven { .. } | Program::Command(_) => {
                settings[0]["jdk"].as_str().unwrap_or("unavailable: the agent did not report it").to_owned()
            }
        };
        let [settings_a, settings_b] = settings;
        let [flags_a, flags_b] = flags;
        let a = summary::side(&pairs, 0, amount, &names[0], settings_a, flags_a, self.seed);
        let b = summary::side(&pairs, 1, amount, &names[1], settings_b, flags_b, self.seed);
        // While one of two JVMs that share the CPUs is stopped, the other gets more of them: per second its advantage counts twice.
        let is_shared = schedule == Some(Schedule::Concurrent);
        let running = if is_shared { &[&a, &b][..] } else { &[&b] };
        notes.extend(summary::of_idle_cpus(running, amount, machine.cpus));
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
            Method::Forks { fork, .. } => (None, None, Some(fork), None),
        };
        // The estimate's where there is one. It has what the other lacks: no pause falls to a side by chance.
        let ratio = estimate.as_ref().map_or(found.ratio, |estimate| estimate.per_second);
        let (ratio_cpu, why_not) = summary::of_cpu(estimate.as_ref(), found.ratio_cpu);
        notes.extend(why_not.map(str::to_owned));
        let heap_use = match &estimate {
            Some(estimate) => estimate.heap_use,
            None => found.heap_use,
        };
        let differing = if amount == Amount::Bytes {
            let options = [self.options_of(&self.sides[0])?, self.options_of(&self.sides[1])?];
            same_work::differs_by(&self.sides, &options, machine::memory_bytes())
        } else {
            None
        };
        notes.extend(differing.as_deref().map(same_work::note));
        let decisive = if is_shared { ratio_cpu.as_ref().unwrap_or(&ratio) } else { &ratio };
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
            latency,
            heap_use,
            collections_ratio: rates.filter(|(_, b)| *b > 0.0).map(|(a, b)| a / b),
            verdict: if differing.is_some() {
                Verdict::NotComparable
            } else {
                verdict(decisive, found.pairs)
            },
            sides: Sides { a, b },
            report,
            method: result::Method {
                seconds: pairs.iter().map(|pair| pair.a.seconds + pair.b.seconds).sum(),
                warmup_seconds: self.warmup.as_secs_f64(),
                window_ms: window.map(milliseconds),
                skip_ms: skip.map(milliseconds),
                fork_seconds: fork.map(|time| time.as_secs_f64()),
                schedule: schedule.map(|schedule| schedule.name().to_owned()),
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
