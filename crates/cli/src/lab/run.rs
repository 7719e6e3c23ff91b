//! `terrace lab run`.

use crate::format::{Format, json};
use ::experiment::session::{Request, store};
use ::experiment::{Bench, Effort, Experiment, Wanted};
use ::lab::experiments;
use ::lab_report as report;
use clap::Args;
use compare::machine::Host;
use jvm::install::Install;
use jvm::jdk::{self, Jdk};
use jvm::{Error, Result, os};
use present::progress::Progress;
use present::table;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  terrace lab run                          everything, quickly, on the newest JDK
  terrace lab run atomics latency --full   two experiments, every point of their sources
  terrace lab run --resume                 continue after Ctrl-C
  terrace lab run demo                     what Terrace does here, in nine minutes")]
pub struct Run {
    /// Experiments to run [default: all except those that 'terrace lab list' marks (when named)].
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Only cells with this value, such as threads=2 or layout=shared; may be repeated; several values of one key match any of them; with --resume, only these are measured now, and the results keep all others.
    #[arg(long, value_name = "KEY=VALUE")]
    only: Vec<String>,

    /// Few points: takes minutes (the default).
    #[arg(long, conflicts_with = "full")]
    quick: bool,

    /// Every point of the sources: takes hours.
    #[arg(long)]
    full: bool,

    /// A JDK: its directory or its bin/java; may be repeated; a quick run uses the first one for most experiments [default: all of 17, 21 and 25, the newest first].
    #[arg(long, value_name = "HOME")]
    java: Vec<PathBuf>,

    /// The directory for results, new or empty [default: terrace-lab, terrace-lab-2, ...].
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,

    /// Continue the run in --out, or the last one in this directory.
    #[arg(long, conflicts_with_all = ["names", "quick", "full", "java"])]
    resume: bool,

    /// Runs per cell; of comparisons, each in separate JVMs [default: the experiment's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,

    /// Seconds measured in each compared JVM, not for fixed work [default: the experiment's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: Option<u64>,

    /// Seconds before each compared JVM is measured [default: the experiment's].
    #[arg(long, value_name = "N")]
    warmup: Option<u64>,

    /// End a comparison when the half-width of its interval is at most this [default: the experiment's].
    #[arg(long, value_name = "PERCENT", value_parser = crate::arguments::percent)]
    precision: Option<f64>,

    /// Fill the huge page pools for the cells that need them, and restore them afterwards (requires root).
    #[arg(long)]
    allow_sysctl: bool,

    /// Output format.
    #[arg(long, value_parser = Format::of(Format::BOTH), default_value = "table", help_heading = "Output")]
    format: Format,
}

/// The JDKs given, or found.
pub fn chosen_jdks(given: &[PathBuf]) -> Result<Vec<Jdk>> {
    if !given.is_empty() {
        return given
            .iter()
            .map(|path| Jdk::at(path).map_err(|error| Error::usage(format!("--java {error}"))))
            .collect();
    }
    Ok(jdk::measured())
}

/// Where experiments are run.
pub fn bench(
    effort: Effort,
    jdks: Vec<Jdk>,
    allow_sysctl: bool,
    wanted: Wanted,
    scratch: &Path,
) -> Result<Bench> {
    Ok(Bench {
        effort,
        jdks,
        install: Install::here()?,
        machine: Host::here(),
        scratch: scratch.to_owned(),
        allow_sysctl,
        wanted,
    })
}

fn named(names: &[String]) -> Result<Vec<Experiment>> {
    let all = experiments::all();
    let known: Vec<&str> = all.iter().map(|one| one.declaration.name.as_str()).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Error::usage(format!(
            "unknown experiment '{unknown}'; choose from {}",
            known.join(", ")
        )));
    }
    let asked = |one: &Experiment| {
        if names.is_empty() { !one.declaration.by_name } else { names.contains(&one.declaration.name) }
    };
    Ok(all.into_iter().filter(asked).collect())
}

/// As it was written: a product of floating-point numbers may end in many digits.
fn percent(share: f64) -> String {
    format!("{}%", (1e6 * share).round() / 1e4)
}

/// Rounds of different lengths are not alike, and a cell takes all of its rounds for equal.
fn same_length(name: &str, asked: Option<u64>, kept: Option<u64>) -> Result<()> {
    let Some(asked) = asked.filter(|asked| Some(*asked) != kept) else { return Ok(()) };
    let had = kept.map_or("the experiments' own".to_owned(), |kept| kept.to_string());
    Err(Error::usage(format!(
        "--{name} {asked}: the run to continue has {had}, and its rounds must be alike; omit --{name}, or start another run without --resume"
    )))
}

impl Run {
    fn folder(&self) -> Result<PathBuf> {
        match &self.out {
            Some(folder) => Ok(folder.clone()),
            None if self.resume => store::last_folder(Path::new(".")),
            None => Ok(store::new_folder(Path::new("."))),
        }
    }

    fn request(&self, folder: PathBuf, scratch: &Path) -> Result<Request> {
        let kept = self.resume.then(|| store::header(&folder)).transpose()?;
        let (names, effort, java) = match &kept {
            Some(header) => (header.experiments.clone(), header.effort, header.jdks.clone()),
            None => {
                let effort = if self.full { Effort::Full } else { Effort::Quick };
                (self.names.clone(), effort, self.java.clone())
            }
        };
        let jdks = match &kept {
            Some(header) if header.jdks.is_empty() => Vec::new(),
            _ => chosen_jdks(&java)?,
        };
        let kept_wanted = kept.as_ref().map(|header| header.wanted).unwrap_or_default();
        if kept.is_some() {
            same_length("seconds", self.seconds, kept_wanted.seconds)?;
            same_length("warmup", self.warmup, kept_wanted.warmup)?;
        }
        let wanted = Wanted {
            rounds: self.rounds.map(|rounds| rounds as usize).or(kept_wanted.rounds),
            seconds: self.seconds.or(kept_wanted.seconds),
            warmup: self.warmup.or(kept_wanted.warmup),
            precision: self.precision.or(kept_wanted.precision),
        };
        let allow = self.allow_sysctl || kept.is_some_and(|header| header.allow_sysctl);
        let command = std::iter::once("terrace lab run".to_owned())
            .chain(self.names.iter().cloned())
            .chain(self.only.iter().map(|only| format!("--only '{only}'")))
            .chain([format!("--{}", effort.name())])
            .chain(wanted.rounds.map(|rounds| format!("--rounds {rounds}")))
            .chain(wanted.seconds.map(|seconds| format!("--seconds {seconds}")))
            .chain(wanted.warmup.map(|seconds| format!("--warmup {seconds}")))
            .chain(wanted.precision.map(|share| format!("--precision {}", percent(share))))
            .chain(self.java.iter().map(|path| format!("--java {}", path.display())))
            .chain(allow.then(|| "--allow-sysctl".to_owned()))
            .collect::<Vec<_>>()
            .join(" ");
        Ok(Request {
            experiments: named(&names)?,
            only: self.only.clone(),
            bench: bench(effort, jdks, allow, wanted, scratch)?,
            folder,
            resume: self.resume,
            command,
            complete: ::lab::simulate::fill,
        })
    }

    pub fn execute(&self) -> Result<()> {
        os::note_signals();
        os::outlive_closed_pipes();
        let folder = self.folder()?;
        let scratch = store::scratch()?;
        let request = self.request(folder.clone(), scratch.path())?;
        let outcome = request.run(&Progress::on_standard_error())?;
        let files = report::write(&outcome.results, &folder)?;
        if self.format == Format::Json {
            print!("{}", json(&outcome.results)?);
        } else {
            print!("{}", report::text::run(&outcome.results, table::columns()));
            for file in files
                .iter()
                .filter(|file| file.extension().is_some_and(|kind| kind == "html" || kind == "json"))
            {
                println!("written: {}", file.display());
            }
        }
        match outcome.stopped {
            Some(error) => {
                eprintln!("terrace: finished cells are kept; continue with: {}", self.again(&folder));
                Err(error)
            }
            None => failures(&outcome.results, &self.again(&folder)),
        }
    }

    /// The command that continues. A run knows what it was started with, but not what was chosen to continue it.
    fn again(&self, folder: &Path) -> String {
        let mut command = format!("terrace lab run --resume --out {}", folder.display());
        if self.resume {
            let only = self.only.iter().map(|only| format!(" --only '{only}'"));
            let rounds = self.rounds.map(|rounds| format!(" --rounds {rounds}"));
            let precision = self.precision.map(|share| format!(" --precision {}", percent(share)));
            let allow = self.allow_sysctl.then(|| " --allow-sysctl".to_owned());
            command.extend(only.chain(rounds).chain(precision).chain(allow));
        }
        command
    }
}

/// A run in which anything failed is no success; what else it found has been shown.
fn failures(results: &::experiment::results::Results, again: &str) -> Result<()> {
    let failed: Vec<&str> = (results.experiments.iter())
        .filter(|one| one.state == ::experiment::results::State::Failed)
        .map(|one| one.declaration.name.as_str())
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(Error::failed(format!(
        "cells failed in {}; the table shows why; retry what is missing with: {again}",
        failed.join(", ")
    )))
}
