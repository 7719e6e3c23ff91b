//! The folder of a run: `run.json` says what was asked, `samples.jsonl` holds every sample, a line each, written as soon as it
//! is there. Whatever ends a run, at most the sample under way is lost.

use crate::{Effort, Parameters, Sample, Wanted, value};
use crate::{Error, Result};
use compare::noise::{Disturbance, Lap};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// The number of the way in which cells are measured, within a version of terrace. It rises when samples no longer mean what they meant: 1
/// is that JVMs measured together begin their work together, and that metrics of memory are in MB, not MiB.
pub const METHOD: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The layout's number.
    pub schema: u32,
    /// [`METHOD`].
    #[serde(default)]
    pub method: u32,
    /// The version of terrace.
    pub terrace: String,
    pub effort: Effort,
    /// The experiments by name.
    pub experiments: Vec<String>,
    /// Only cells with these values, `key=value`.
    pub only: Vec<String>,
    pub jdks: Vec<PathBuf>,
    /// Whether kernel settings may be changed.
    pub allow_sysctl: bool,
    #[serde(default)]
    pub wanted: Wanted,
    /// The agent's build; `None` where there is no agent.
    #[serde(default)]
    pub agent: Option<String>,
    pub command: String,
    /// When it began, in seconds since 1970.
    pub started_unix: u64,
}

/// A line of `samples.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// A cell's run.
    Sample { experiment: String, cell: String, round: usize, sample: Box<Sample> },
    /// A canary: its name, the second of the run, its value.
    Canary { name: String, at: f64, value: f64 },
    /// The seconds that the run has taken so far.
    Spent { seconds: f64 },
    /// A session began, with this load average.
    Began { load: Option<f64> },
    /// What else happened on the machine since the line before this.
    Passed(Lap),
    /// Seconds of a cell's run, whether it failed or not.
    Took { experiment: String, seconds: f64 },
}

/// The folder of a run.
pub struct Store {
    header: Header,
    file: File,
    path: PathBuf,
    samples: BTreeMap<(String, String), BTreeMap<usize, Sample>>,
    canaries: Vec<(String, f64, f64)>,
    spent: f64,
    load: Option<f64>,
    passed: Lap,
    took: BTreeMap<String, f64>,
    outdated: usize,
}

const HEADER: &str = "run.json";
const SAMPLES: &str = "samples.jsonl";

/// Seconds since 1970.
pub fn now_unix() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// What was asked of the run in a folder.
pub fn header(folder: &Path) -> Result<Header> {
    let path = folder.join(HEADER);
    let text = fs::read_to_string(&path).map_err(|error| {
        Error::usage(format!(
            "{}: {error}; there is no run to continue there: name its directory with --out, or omit --resume",
            path.display()
        ))
    })?;
    serde_json::from_str(&text).map_err(|error| {
        Error::failed(format!("{}: {error}; start again in another directory with --out", path.display()))
    })
}

/// The name of the n-th folder for results: `terrace-lab`, `terrace-lab-2`, ...
fn folder_name(number: u64) -> String {
    if number == 1 { "terrace-lab".to_owned() } else { format!("terrace-lab-{number}") }
}

/// Everything that has such a name, with its number. Some may have been deleted, so the numbers can have gaps.
fn numbered(parent: &Path) -> Vec<(u64, PathBuf)> {
    let number = |name: &str| {
        let number =
            if name == folder_name(1) { 1 } else { name.strip_prefix("terrace-lab-")?.parse().ok()? };
        (name == folder_name(number)).then_some(number)
    };
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((number(entry.file_name().to_str()?)?, entry.path()))).collect()
}

/// A folder that is not there yet, after all that are: a number that was freed would make the newest run look older than others.
pub fn new_folder(parent: &Path) -> PathBuf {
    let last = numbered(parent).into_iter().map(|(number, _)| number).max().unwrap_or(0);
    parent.join(folder_name(last.saturating_add(1)))
}

/// When a folder's run last wrote, where it holds one.
fn last_written(folder: &Path) -> Option<SystemTime> {
    let modified = |file: &str| fs::metadata(folder.join(file)).and_then(|file| file.modified()).ok();
    Some(modified(HEADER)?.max(modified(SAMPLES).unwrap_or(UNIX_EPOCH)))
}

/// The folder of the run that last wrote: by time, because a run may have been continued after a later one. Of runs that wrote in the same
/// tick of the file system's clock, the one that was started last.
pub fn last_folder(parent: &Path) -> Result<PathBuf> {
    let runs = numbered(parent)
        .into_iter()
        .filter_map(|(number, folder)| Some((last_written(&folder)?, number, folder)));
    runs.max().map(|(_, _, folder)| folder).ok_or_else(|| {
        Error::usage("no run to continue here; name its directory with --out, or omit --resume")
    })
}

/// A folder for files that a run needs and nobody keeps. On a disk, not in memory: mapped files are measured there.
pub fn scratch() -> Result<TempDir> {
    let parent = std::env::var_os("TMPDIR").map_or_else(|| PathBuf::from("/var/tmp"), PathBuf::from);
    tempfile::Builder::new()
        .prefix("terrace-lab-")
        .tempdir_in(&parent)
        .or_else(|_| tempfile::tempdir())
        .map_err(|error| {
            Error::failed(format!(
                "no temporary directory in {}: {error}; set TMPDIR to a writable one",
                parent.display()
            ))
        })
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> Error + use<'_> {
    move |error| Error::failed(format!("{}: {error}; choose a writable directory with --out", path.display()))
}

impl Store {
    /// A new run in a folder that is new, or empty: results replace files of their names.
    pub fn create(folder: &Path, header: &Header) -> Result<Store> {
        fs::create_dir_all(folder).map_err(failed(folder))?;
        let path = folder.join(HEADER);
        if path.exists() {
            return Err(Error::usage(format!(
                "{} already holds a run; continue it with --resume, or choose another directory with --out",
                folder.display()
            )));
        }
        if fs::read_dir(folder).map_err(failed(folder))?.next().is_some() {
            return Err(Error::usage(format!(
                "{} has other files, which results could replace; specify a new or an empty directory with --out",
                folder.display()
            )));
        }
        let text = serde_json::to_string_pretty(header).map_err(|error| Error::failed(error.to_string()))?;
        let samples = folder.join(SAMPLES);
        let file = File::create(&samples).map_err(failed(&samples))?;
        fs::write(&path, text + "\n").map_err(failed(&path))?;
        Ok(Store {
            header: header.clone(),
            file,
            path: samples,
            samples: BTreeMap::new(),
            canaries: Vec::new(),
            spent: 0.0,
            load: None,
            passed: Lap::default(),
            took: BTreeMap::new(),
            outdated: 0,
        })
    }

    /// The run that a folder holds. It must have asked the same of the same version: values of two programs do not mix.
    pub fn resume(folder: &Path, asked: &Header) -> Result<Store> {
        let found = header(folder)?;
        if (found.schema, &found.terrace) != (asked.schema, &asked.terrace) {
            return Err(Error::usage(format!(
                "{} was started by terrace {}, this is {}; start again in another directory with --out",
                folder.display(),
                found.terrace,
                asked.terrace
            )));
        }
        if found.method != asked.method {
            return Err(Error::usage(format!(
                "{} was measured in another way than this terrace measures, and samples of two ways do not mix; start again in another \
                 directory with --out",
                folder.display()
            )));
        }
        let path = folder.join(SAMPLES);
        let text = fs::read_to_string(&path).map_err(failed(&path))?;
        // A line that was cut off by the end of the run is not whole; neither is what follows it on the same line.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let file = OpenOptions::new().append(true).open(&path).map_err(failed(&path))?;
        // What changes nothing is not to make this the run that last wrote.
        if whole < text.len() {
            file.set_len(whole as u64).map_err(failed(&path))?;
        }
        let mut store = Store {
            header: Header { agent: asked.agent.clone(), ..found },
            file,
            path,
            samples: BTreeMap::new(),
            canaries: Vec::new(),
            spent: 0.0,
            load: None,
            passed: Lap::default(),
            took: BTreeMap::new(),
            outdated: 0,
        };
        for (number, line) in text[..whole].lines().enumerate() {
            let line = serde_json::from_str(line).map_err(|error| {
                Error::failed(format!(
                    "{} line {}: {error}; remove that line",
                    store.path.display(),
                    number + 1
                ))
            })?;
            store.take(line);
        }
        Ok(store)
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Sample { sample, .. } if sample.agent.is_some() && sample.agent != self.header.agent => {
                self.outdated += 1;
            }
            Line::Sample { experiment, cell, round, sample } => {
                self.samples.entry((experiment, cell)).or_default().insert(round, *sample);
            }
            Line::Canary { name, at, value } => self.canaries.push((name, at, value)),
            Line::Spent { seconds } => self.spent = seconds,
            Line::Began { load } => self.load = self.load.or(load),
            Line::Passed(lap) => self.passed += lap,
            Line::Took { experiment, seconds } => *self.took.entry(experiment).or_default() += seconds,
        }
    }

    fn write(&mut self, line: Line) -> Result<()> {
        let mut text = serde_json::to_string(&line).map_err(|error| Error::failed(error.to_string()))?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).map_err(failed(&self.path))?;
        self.take(line);
        Ok(())
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Samples that are of another build of the agent, and so do not count.
    pub fn outdated(&self) -> usize {
        self.outdated
    }

    /// Keeps a sample.
    pub fn keep(
        &mut self,
        experiment: &str,
        parameters: &Parameters,
        round: usize,
        mut sample: Sample,
    ) -> Result<()> {
        if sample.processes > 0 {
            sample.agent.clone_from(&self.header.agent);
        }
        // JSON has no word for it, so that the line could not be read again.
        sample.drop_what_is_no_number();
        let (experiment, cell) = (experiment.to_owned(), value::name(parameters));
        self.write(Line::Sample { experiment, cell, round, sample: Box::new(sample) })
    }

    /// Keeps a canary's value.
    pub fn keep_canary(&mut self, name: &str, at: f64, value: f64) -> Result<()> {
        self.write(Line::Canary { name: name.to_owned(), at, value })
    }

    /// Notes how long the run has taken so far, in seconds.
    pub fn spend(&mut self, seconds: f64) -> Result<()> {
        self.write(Line::Spent { seconds })
    }

    /// How long the run has taken so far, in seconds.
    pub fn spent(&self) -> f64 {
        self.spent
    }

    /// Notes that a session begins.
    pub fn begin(&mut self, load: Option<f64>) -> Result<()> {
        self.write(Line::Began { load })
    }

    /// Notes what else happened on the machine.
    pub fn pass(&mut self, lap: Lap) -> Result<()> {
        self.write(Line::Passed(lap))
    }

    /// What else happened on the machine in all sessions, and the load before the first.
    pub fn disturbance(&self) -> Disturbance {
        Disturbance::of(self.load, self.passed)
    }

    /// Notes how long a cell's run took, in seconds.
    pub fn take_seconds(&mut self, experiment: &str, seconds: f64) -> Result<()> {
        self.write(Line::Took { experiment: experiment.to_owned(), seconds })
    }

    /// How long an experiment has taken in all sessions, in seconds.
    pub fn taken(&self, experiment: &str) -> f64 {
        self.took.get(experiment).copied().unwrap_or_default()
    }

    /// All canaries so far: name, second, value.
    pub fn canaries(&self) -> &[(String, f64, f64)] {
        &self.canaries
    }

    /// Whether a sample is there.
    pub fn has(&self, experiment: &str, parameters: &Parameters, round: usize) -> bool {
        self.samples
            .get(&(experiment.to_owned(), value::name(parameters)))
            .is_some_and(|rounds| rounds.contains_key(&round))
    }

    /// A cell's samples in the order of rounds.
    pub fn samples(&self, experiment: &str, parameters: &Parameters) -> Vec<&Sample> {
        let rounds = self.samples.get(&(experiment.to_owned(), value::name(parameters)));
        rounds.into_iter().flat_map(BTreeMap::values).collect()
    }
}

#[cfg(test)]
#[path = "store_test.rs"]
mod tests;
