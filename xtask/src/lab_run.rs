//! The commands that run experiments of the lab: they build all, then call the built command.

use crate::files::{remove, rename};
use crate::shell::{self, root};
use crate::{applications, build};
use jvm::Result;
use jvm::jdk::Collector;
use jvm::workload::Workload;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::Command;

/// Options of `lab`.
#[derive(clap::Args)]
pub struct Lab {
    /// Arguments for `terrace lab run`, such as `-- atomics --full`.
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Options of `demo`.
#[derive(clap::Args)]
pub struct Demo {
    /// On all JDKs found, not only the newest.
    #[arg(long)]
    all_jdks: bool,
}

/// Options of `matrix`.
#[derive(clap::Args)]
pub struct Matrix {
    /// Terrace's defaults instead of fixed TLABs: alloc, sizes, churn, threads and javac, on against off in one JVM, each cell
    /// until its intervals are within --precision; churn and threads also against stock with -XX:TLABSize=4k, in forks.
    #[arg(long)]
    defaults: bool,

    /// Off against off: the measurement error.
    #[arg(long, requires = "defaults")]
    control: bool,

    #[command(flatten)]
    cells: Cells,
}

/// Options of `applications`.
#[derive(clap::Args)]
pub struct Applications {
    /// Only fetch and build the programs, with digests checked; the tests and later runs then need no network.
    #[arg(long)]
    fetch: bool,

    /// Only these programs; may be repeated.
    #[arg(long)]
    program: Vec<String>,

    /// Only this collector: g1 or parallel.
    #[arg(long)]
    gc: Option<Collector>,

    /// Only the JDK of this feature version [default: 17 and 25].
    #[arg(long)]
    jdk: Option<u32>,

    /// Only this heap: small or ample.
    #[arg(long)]
    heap: Option<String>,

    /// Seconds measured in each JVM; three at the same time get three times as long [default: 20 in one process, 5 in forks].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: Option<u64>,

    /// Rounds per cell, each with one JVM per side [default: 6].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,

    /// Resume the last run.
    #[arg(long)]
    resume: bool,
}

/// Options of `startup`.
#[derive(clap::Args)]
pub struct Startup {
    /// Pairs of runs per JDK.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    pairs: u64,
}

/// Which cells of an experiment, and how much of each is measured.
#[derive(clap::Args, Default)]
pub struct Cells {
    /// Only this collector [default: all].
    #[arg(long)]
    gc: Option<Collector>,

    /// Only the JDK of this feature version [default: 17 and 25; waste: all].
    #[arg(long)]
    jdk: Option<u32>,

    /// Only this workload, if the experiment has several.
    #[arg(long)]
    workload: Option<Workload>,

    /// Only this number of threads: 2 or 16; of matrix --defaults also 64 and 256, with javac 2, 8 and 16; of stock also 1, with all JVMs on one CPU [default: all; stock: 1; waste: 2].
    #[arg(long)]
    threads: Option<u32>,

    /// Only this young generation: 16m, 64m or own (the JVM's choice); of waste 64m or 600m.
    #[arg(long)]
    young: Option<String>,

    /// Only these sizes of waste: 1k to 200k, alternating, or mixture; may be repeated.
    #[arg(long)]
    size: Vec<String>,

    /// Seconds measured in each JVM [default: 8; matrix --defaults at most 45, with javac 120; stock 3].
    #[arg(long, alias = "fork-seconds", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: Option<u64>,

    /// Half-width of the interval at which a cell ends, in percent [default: of matrix --defaults 1.5, of stock 1].
    #[arg(long)]
    precision: Option<f64>,

    /// JVMs per cell: an interval over several includes their differences [default: 3; matrix --defaults 1, stock 14].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,

    /// Skip cells that were already measured with this build of the agent.
    #[arg(long)]
    resume: bool,
}

impl Lab {
    pub fn run(&self) -> Result<()> {
        run("lab", false, &self.arguments)
    }
}

impl Demo {
    pub fn run(&self) -> Result<()> {
        let all: &[&str] = if self.all_jdks { &["--full", "--rounds=1"] } else { &[] };
        run("demo", false, &[&["demo".to_owned()], &words(all)[..]].concat())
    }
}

impl Matrix {
    pub fn run(&self) -> Result<()> {
        match (self.defaults, self.control) {
            (false, _) => self.cells.run("matrix", "matrix", &[]),
            (_, false) => {
                let compared = ["--only=compared=on / off", "--only=compared=Terrace / TLABSize=4k"];
                self.cells.run("defaults", "defaults", &compared)
            }
            (_, true) => self.cells.run("defaults", "control", &["--only=compared=off / off"]),
        }
    }
}

impl Applications {
    pub fn run(&self) -> Result<()> {
        applications::fetch()?;
        if self.fetch {
            return Ok(());
        }
        let chosen = [only("program", &self.program), only("heap", self.heap.as_ref())].concat();
        let chosen: Vec<&str> = chosen.iter().map(String::as_str).collect();
        let Applications { gc, jdk, seconds, rounds, resume, .. } = *self;
        let cells = Cells { gc, jdk, seconds, rounds, resume, ..Cells::default() };
        cells.run("applications", "applications", &chosen)
    }
}

impl Startup {
    pub fn run(&self) -> Result<()> {
        run("startup", false, &words(&["startup", "--full", "--rounds", &self.pairs.to_string()]))
    }
}

impl Cells {
    pub fn bound(&self) -> Result<()> {
        self.run("bound", "bound", &[])
    }

    pub fn stock(&self) -> Result<()> {
        let threads = if self.threads.is_none() { &["--only=threads=1"][..] } else { &[] };
        self.run("baseline", "stock", threads)
    }

    pub fn sizing(&self) -> Result<()> {
        self.run("sizing", "sizing", &[])
    }

    pub fn pools(&self) -> Result<()> {
        let jdk = if self.jdk.is_none() { &["--only=jdk=25"][..] } else { &[] };
        self.run("pools", "pools", jdk)
    }

    pub fn waste(&self) -> Result<()> {
        let jdk = if self.jdk.is_none() { &["--only=jdk=21"][..] } else { &[] };
        let threads = if self.threads.is_none() { &["--only=threads=2"][..] } else { &[] };
        self.run("waste", "waste", &[jdk, threads].concat())
    }

    /// Runs these cells of an experiment, all points of it.
    fn run(&self, experiment: &str, folder: &str, more: &[&str]) -> Result<()> {
        let jdks = self.jdk.map_or(vec![17, 25], |jdk| vec![jdk]);
        // What is gone on with knows its experiment; where there is nothing, it begins. Cells chosen now are measured, and join those that
        // it has.
        let resume = self.resume && place(folder).join("run.json").is_file();
        let begin = if resume { Vec::new() } else { words(&[experiment, "--full"]) };
        let own = [
            begin,
            only("collector", self.gc.map(Collector::name)),
            only("jdk", jdks),
            only("workload", self.workload.map(Workload::name)),
            only("threads", self.threads),
            only("young", self.young.as_deref()),
            only("arrays", &self.size),
            option("seconds", self.seconds),
            option("precision", self.precision),
            option("rounds", self.rounds),
            words(more),
        ];
        run(folder, resume, &own.concat())
    }
}

fn only(key: &str, values: impl IntoIterator<Item = impl Display>) -> Vec<String> {
    values.into_iter().map(|value| format!("--only={key}={value}")).collect()
}

fn option(name: &str, value: Option<impl Display>) -> Vec<String> {
    value.map(|value| format!("--{name}={value}")).into_iter().collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn place(name: &str) -> PathBuf {
    root().join("target/terrace").join(name)
}

/// Builds all, runs, leaves the results in `target/terrace/NAME`. Those of the run before stay beside it, unless they are gone on with.
fn run(name: &str, resume: bool, arguments: &[String]) -> Result<()> {
    build::all()?;
    let folder = place(name);
    if !resume && folder.exists() {
        let before = folder.with_file_name(format!("{name}-before"));
        remove(&before)?;
        rename(&folder, before)?;
    }
    let mut command = Command::new(crate::places::folder().join("terrace"));
    command.args(["lab", "run", "--out"]).arg(&folder).args(resume.then_some("--resume")).args(arguments);
    shell::run(&mut command)
}
