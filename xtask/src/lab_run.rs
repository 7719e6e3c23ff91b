//! The commands that run experiments of the lab: they build all, then call the built command.

use crate::build;
use crate::shell::{self, root};
use jvm::jdk::Collector;
use jvm::workload::Workload;
use jvm::{Error, Result};
use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Options of `lab`.
#[derive(clap::Args)]
pub struct Lab {
    /// What `terrace lab run` is given instead of nothing, such as `-- atomics --full`.
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
    /// until its intervals are within --precision.
    #[arg(long)]
    defaults: bool,

    /// Off against off: what measuring adds by itself.
    #[arg(long, requires = "defaults")]
    control: bool,

    /// Half of an interval's width at which a cell ends, in percent [default: 1.5].
    #[arg(long, requires = "defaults")]
    precision: Option<f64>,

    /// Only this workload: alloc, sizes, churn, threads or javac.
    #[arg(long, requires = "defaults")]
    workload: Option<Workload>,

    /// Only this number of threads: 2 or 16; with --defaults also 64 and 256, of javac 2, 8 or 16.
    #[arg(long)]
    threads: Option<u32>,

    /// Only this young generation: 16m, 64m or own (the JVM's choice).
    #[arg(long, requires = "defaults", value_parser = ["16m", "64m", "own"])]
    young: Option<String>,

    /// Seconds measured in each JVM [default: 8; with --defaults at most 45].
    #[arg(long, value_parser = clap::value_parser!(u64).range(2..))]
    seconds: Option<u64>,

    #[command(flatten)]
    cells: Cells,
}

/// Options of `bound`.
#[derive(clap::Args)]
pub struct Bound {
    /// Seconds measured in each JVM [default: 8].
    #[arg(long, value_parser = clap::value_parser!(u64).range(2..))]
    seconds: Option<u64>,

    #[command(flatten)]
    cells: Cells,
}

/// Options of `stock`.
#[derive(clap::Args)]
pub struct Stock {
    /// Only this workload: alloc, churn or javac.
    #[arg(long)]
    workload: Option<Workload>,

    /// Threads of the workload: 2 or 16.
    #[arg(long, default_value_t = 2)]
    threads: u32,

    /// Seconds of work of a fork, by the speed of a first one [default: 3].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    fork_seconds: Option<u64>,

    /// Half of the intervals' width that is wanted, in percent [default: 2].
    #[arg(long)]
    precision: Option<f64>,

    #[command(flatten)]
    cells: Cells,
}

/// Options of `startup`.
#[derive(clap::Args)]
pub struct Startup {
    /// Pairs of runs for each JDK.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    pairs: u64,
}

/// Which cells, and how often.
#[derive(clap::Args)]
struct Cells {
    /// Only this collector: serial, parallel or g1.
    #[arg(long)]
    gc: Option<Collector>,

    /// Only the JDK of this feature number [default: 17 and 25].
    #[arg(long)]
    jdk: Option<u32>,

    /// JVMs for each cell: what differs from one to the next is in an interval over several [default: 3; matrix --defaults 1, stock 14].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,

    /// Skip the cells that are there already and are of this build of the agent.
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
        let name = if self.defaults { "defaults" } else { "matrix" };
        let compared = if self.control { "off / off" } else { "on / off" };
        let more = [
            only("workload", self.workload.map(Workload::name)),
            only("threads", self.threads),
            only("young", self.young.as_deref()),
            only("compared", self.defaults.then_some(compared)),
            option("seconds", self.seconds),
            option("precision", self.precision),
        ];
        self.cells.run(name, if self.control { "control" } else { name }, more.concat())
    }
}

impl Bound {
    pub fn run(&self) -> Result<()> {
        self.cells.run("bound", "bound", option("seconds", self.seconds))
    }
}

impl Stock {
    pub fn run(&self) -> Result<()> {
        let gc = Some(self.cells.gc.unwrap_or(Collector::Parallel));
        let more = [
            only("workload", self.workload.map(Workload::name)),
            only("threads", Some(self.threads)),
            only("collector", gc.map(Collector::name)),
            option("seconds", self.fork_seconds),
            option("precision", self.precision),
        ];
        self.cells.run("baseline", "stock", more.concat())
    }
}

impl Startup {
    pub fn run(&self) -> Result<()> {
        run("startup", false, &words(&["startup", "--full", "--rounds", &self.pairs.to_string()]))
    }
}

impl Cells {
    /// Runs these cells of an experiment, all points of it.
    fn run(&self, experiment: &str, folder: &str, more: Vec<String>) -> Result<()> {
        let jdks = self.jdk.map_or(vec![17, 25], |jdk| vec![jdk]);
        // What is gone on with knows its experiment.
        let begin = if self.resume { Vec::new() } else { words(&[experiment, "--full"]) };
        let own = [
            begin,
            only("collector", self.gc.map(Collector::name)),
            jdks.into_iter().flat_map(|jdk| only("jdk", Some(jdk))).collect(),
            option("rounds", self.rounds),
        ];
        run(folder, self.resume, &[own.concat(), more].concat())
    }
}

fn only(key: &str, value: Option<impl Display>) -> Vec<String> {
    value.map(|value| format!("--only={key}={value}")).into_iter().collect()
}

fn option(name: &str, value: Option<impl Display>) -> Vec<String> {
    value.map(|value| format!("--{name}={value}")).into_iter().collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Builds all, runs, leaves the results in `target/terrace/NAME`. Those of the run before stay beside it, unless they are gone on with.
fn run(name: &str, resume: bool, arguments: &[String]) -> Result<()> {
    build::all()?;
    let folder = root().join("target/terrace").join(name);
    if !resume && folder.exists() {
        keep(&folder, &folder.with_file_name(format!("{name}-before")))?;
    }
    let mut command = Command::new(build::folder().join("terrace"));
    command.args(["lab", "run", "--out"]).arg(&folder).args(resume.then_some("--resume")).args(arguments);
    shell::run(&mut command)
}

fn keep(folder: &Path, before: &Path) -> Result<()> {
    let removed = fs::remove_dir_all(before).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    });
    removed
        .and_then(|()| fs::rename(folder, before))
        .map_err(|error| Error::failed(format!("{}: {error}", before.display())))
}
