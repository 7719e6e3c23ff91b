//! What the measuring commands share.

use crate::build;
use crate::shell::root;
use comfy_table::{ContentArrangement, Table};
use compare::result::ComparisonResult;
use compare::stopping::Precision;
use compare::{Comparison, Method, Program};
use control::Mode;
use jvm::agent::{AgentOptions, Tlab};
use jvm::jdk::{Collector, Jdk};
use jvm::os::Exit;
use jvm::workload::{Lengths, Parameters, Workload};
use jvm::{Error, Result};
use present::progress::Progress;
use serde_json::Value;
use statistics::Interval;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// One comparison of a workload.
#[derive(Clone, Debug)]
pub struct Case {
    /// The workload.
    pub workload: Workload,
    /// Its threads; `None` leaves that to the workload.
    pub threads: Option<u32>,
    /// Lengths of arrays, for `sizes`.
    pub lengths: Option<Lengths>,
    /// The JDK.
    pub jdk: Jdk,
    /// The collector; `None` leaves that to the JVM.
    pub collector: Option<Collector>,
    /// Further flags on both sides.
    pub flags: Vec<&'static str>,
    /// The thread buffers.
    pub tlab: Tlab,
}

impl Case {
    /// `alloc` with a fixed TLAB, in a heap whose collections are few.
    pub fn alloc(jdk: &Jdk, collector: Collector, threads: u32, tlab: u64) -> Case {
        Case {
            workload: Workload::Alloc,
            threads: Some(threads),
            lengths: None,
            jdk: jdk.clone(),
            collector: Some(collector),
            flags: vec!["-Xms2g", "-Xmx2g", "-Xmn1g"],
            tlab: Tlab::Bytes(tlab),
        }
    }

    /// Windows in one JVM, buffers on against `against`.
    pub fn in_process(
        &self,
        against: Mode,
        warmup: u64,
        seconds: u64,
        window: Duration,
    ) -> Result<ComparisonResult> {
        let skip = Duration::from_millis(5);
        self.run(
            Method::Windows { window, skip, modes: [Mode::On, against], precision: None },
            warmup,
            seconds,
        )
    }

    /// Windows in one JVM until the ratios are that precise, or the seconds are over.
    pub fn until_precise(
        &self,
        modes: [Mode; 2],
        warmup: u64,
        most_seconds: u64,
        precision: Precision,
    ) -> Result<ComparisonResult> {
        // With more threads than CPUs a window is long enough for many of them to have had their turn.
        let many = self.threads.is_some_and(|threads| threads > 16);
        let window = Duration::from_millis(if many { 100 } else { 50 });
        let skip = Duration::from_millis(5);
        self.run(Method::Windows { window, skip, modes, precision: Some(precision) }, warmup, most_seconds)
    }

    /// Whole JVMs in turn, terrace against stock.
    pub fn in_forks(&self, warmup: u64, fork: u64, pairs: u64) -> Result<ComparisonResult> {
        self.run(Method::Forks { fork: Duration::from_secs(fork) }, warmup, 2 * fork * pairs)
    }

    fn run(&self, method: Method, warmup: u64, seconds: u64) -> Result<ComparisonResult> {
        let mut flags = match self.collector {
            Some(collector) => self.jdk.select(collector)?,
            None => Vec::new(),
        };
        flags.extend(self.flags.iter().map(|flag| (*flag).to_owned()));
        let parameters =
            Parameters { threads: self.threads, lengths: self.lengths.clone(), ..Parameters::default() };
        Comparison {
            program: Program::Workload(self.workload, parameters, self.jdk.clone()),
            agent: AgentOptions { tlab: self.tlab, ..AgentOptions::default() },
            flags,
            method,
            warmup: Duration::from_secs(warmup),
            duration: Duration::from_secs(seconds),
            seed: 1,
            show: false,
            install: build::installed(),
        }
        .run(&Progress::on_standard_error())
    }

    /// `Parallel 25, 2 threads`.
    pub fn name(&self) -> String {
        let collector = self.collector.map_or("default collector", Collector::name);
        let threads = self.threads.map(|threads| format!(", {threads} threads")).unwrap_or_default();
        format!("{} {collector} {}{threads}", self.workload.name(), self.jdk.feature)
    }
}

/// An empty table of the terminal's width.
pub fn table_of(header: &[&str]) -> Table {
    let mut rows = Table::new();
    rows.set_content_arrangement(ContentArrangement::Dynamic).set_width(present::table::columns());
    rows.set_header(header.iter().copied());
    rows
}

/// `1.32 [1.28, 1.35]`.
pub fn shown(interval: &Interval) -> String {
    format!("{:.2} [{:.2}, {:.2}]", interval.median, interval.low, interval.high)
}

/// `0.993 [0.984, 1.006]`.
pub fn precise(interval: &Interval) -> String {
    format!("{:.3} [{:.3}, {:.3}]", interval.median, interval.low, interval.high)
}

/// Writes results to `target/terrace/NAME.json` and says so.
pub fn keep(name: &str, value: &Value) -> Result<()> {
    let folder = root().join("target/terrace");
    let path: PathBuf = folder.join(format!("{name}.json"));
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::failed(error.to_string()))?;
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&path, text + "\n"))
        .map_err(|error| Error::failed(format!("{}: {error}", path.display())))?;
    println!("all figures: target/terrace/{name}.json");
    Ok(())
}

/// An outcome as JSON.
pub fn json(outcome: &ComparisonResult) -> Result<Value> {
    serde_json::to_value(outcome).map_err(|error| Error::failed(error.to_string()))
}

/// Runs a JVM to its end: wall time, and what the system has accounted. An exit code other than 0 is an error.
pub fn to_its_end(jdk: &Jdk, command: &mut Command) -> Result<(Duration, Exit)> {
    let since = Instant::now();
    let child = command.spawn().map_err(|error| Error::failed(format!("{}: {error}", jdk.describe())))?;
    let exit = loop {
        let ended =
            jvm::os::reap(child.id()).map_err(|error| Error::failed(format!("wait for java: {error}")))?;
        match ended {
            Some(exit) => break exit,
            None => std::thread::sleep(Duration::from_micros(200)),
        }
    };
    if exit.code == Some(0) {
        Ok((since.elapsed(), exit))
    } else {
        Err(Error::failed("java failed; see its output above"))
    }
}

/// One JDK of each feature number, the oldest first: cells are called by it.
pub fn one_of_each() -> Vec<Jdk> {
    let mut jdks = supported_jdks();
    jdks.sort_by_key(|jdk| jdk.feature);
    jdks.dedup_by_key(|jdk| jdk.feature);
    jdks
}

/// The JDKs found that the agent supports.
pub fn supported_jdks() -> Vec<Jdk> {
    jvm::jdk::discover().into_iter().filter(|jdk| [17, 21, 25].contains(&jdk.feature)).collect()
}
