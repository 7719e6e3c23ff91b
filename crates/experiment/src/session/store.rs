//! The folder of a run: `run.json` says what was asked, `samples.jsonl` holds every sample, a line each, written as soon as it
//! is there. Whatever ends a run, at most the sample under way is lost.

use crate::{Effort, Parameters, Sample, Wanted, value};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The layout's number.
    pub schema: u32,
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
    Sample { experiment: String, cell: String, round: usize, sample: Sample },
    /// A canary: its name, the second of the run, its value.
    Canary { name: String, at: f64, value: f64 },
    /// The seconds that the run has taken so far.
    Spent { seconds: f64 },
}

/// The folder of a run.
pub struct Store {
    header: Header,
    file: File,
    path: PathBuf,
    samples: BTreeMap<(String, String), BTreeMap<usize, Sample>>,
    canaries: Vec<(String, f64, f64)>,
    spent: f64,
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

/// The n-th folder for results: `terrace-lab`, `terrace-lab-2`, ...
fn numbered(parent: &Path, number: u32) -> PathBuf {
    parent.join(if number == 1 { "terrace-lab".to_owned() } else { format!("terrace-lab-{number}") })
}

/// A folder that is not there yet.
pub fn new_folder(parent: &Path) -> PathBuf {
    let mut number = 1;
    while numbered(parent, number).exists() {
        number += 1;
    }
    numbered(parent, number)
}

/// The last folder that holds a run.
pub fn last_folder(parent: &Path) -> Result<PathBuf> {
    let mut last = None;
    let mut number = 1;
    while numbered(parent, number).exists() {
        last = Some(numbered(parent, number));
        number += 1;
    }
    last.ok_or_else(|| {
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
    /// A new run in a folder that has none.
    pub fn create(folder: &Path, header: &Header) -> Result<Store> {
        fs::create_dir_all(folder).map_err(failed(folder))?;
        let path = folder.join(HEADER);
        if path.exists() {
            return Err(Error::usage(format!(
                "{} already holds a run; continue it with --resume, or choose another directory with --out",
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
        let path = folder.join(SAMPLES);
        let text = fs::read_to_string(&path).map_err(failed(&path))?;
        // A line that was cut off by the end of the run is not whole; neither is what follows it on the same line.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let file = OpenOptions::new().append(true).open(&path).map_err(failed(&path))?;
        file.set_len(whole as u64).map_err(failed(&path))?;
        let mut store = Store {
            header: Header { agent: asked.agent.clone(), ..found },
            file,
            path,
            samples: BTreeMap::new(),
            canaries: Vec::new(),
            spent: 0.0,
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
                self.samples.entry((experiment, cell)).or_default().insert(round, sample);
            }
            Line::Canary { name, at, value } => self.canaries.push((name, at, value)),
            Line::Spent { seconds } => self.spent = seconds,
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
        self.write(Line::Sample { experiment, cell, round, sample })
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
mod tests {
    use super::*;
    use crate::parameters;

    fn asked() -> Header {
        Header {
            schema: 1,
            terrace: "1".into(),
            effort: Effort::Quick,
            experiments: vec!["atomics".into()],
            only: vec![],
            jdks: vec![],
            allow_sysctl: false,
            wanted: Wanted::default(),
            agent: Some("one".into()),
            command: "terrace lab run".into(),
            started_unix: 7,
        }
    }

    #[test]
    fn what_was_kept_is_there_again_after_a_cut_in_the_middle_of_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let cell = parameters([("threads", 2_u32.into())]);
        let mut store = Store::create(folder.path(), &asked()).unwrap();
        store.keep("atomics", &cell, 0, Sample::default().value("ns", 4.0)).unwrap();
        store.keep_canary("cpu", 1.5, 0.3).unwrap();
        store.spend(2.5).unwrap();
        drop(store);
        let path = folder.path().join(SAMPLES);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"sample\":{\"experim").unwrap();
        let mut store = Store::resume(folder.path(), &Header { started_unix: 9, ..asked() }).unwrap();
        assert!(store.has("atomics", &cell, 0) && !store.has("atomics", &cell, 1));
        assert_eq!((store.spent(), store.canaries().len(), store.header().started_unix), (2.5, 1, 7));
        store.keep("atomics", &cell, 1, Sample::default().value("ns", 5.0)).unwrap();
        let again = Store::resume(folder.path(), &asked()).unwrap();
        assert_eq!(again.samples("atomics", &cell).len(), 2);
    }

    #[test]
    fn what_another_build_of_the_agent_did_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let cells = [1_u32, 2].map(|threads| parameters([("threads", threads.into())]));
        let mut store = Store::create(folder.path(), &asked()).unwrap();
        let compared = Sample { processes: 1, ..Sample::default() };
        store.keep("bounds", &cells[0], 0, compared.clone()).unwrap();
        store.keep("bounds", &cells[1], 0, Sample::default()).unwrap();
        let has = |store: &Store| cells.each_ref().map(|cell| store.has("bounds", cell, 0));
        assert_eq!(has(&Store::resume(folder.path(), &asked()).unwrap()), [true, true]);
        let rebuilt = Header { agent: Some("other".into()), ..asked() };
        let mut store = Store::resume(folder.path(), &rebuilt).unwrap();
        assert_eq!((has(&store), store.outdated()), ([false, true], 1));
        store.keep("bounds", &cells[0], 0, compared).unwrap();
        assert_eq!(has(&Store::resume(folder.path(), &rebuilt).unwrap()), [true, true]);
    }

    #[test]
    fn what_is_no_number_does_not_make_a_run_unreadable() {
        let folder = tempfile::tempdir().unwrap();
        let cell = parameters([("threads", 2_u32.into())]);
        let mut store = Store::create(folder.path(), &asked()).unwrap();
        let endless = statistics::Interval { median: 1.0, low: 0.0, high: f64::INFINITY };
        let sample = Sample::default()
            .value("ns", 4.0)
            .value("ns", f64::NAN)
            .value("rate", f64::INFINITY)
            .estimate("speed", endless)
            .total("collections", f64::NAN, 1.0);
        store.keep("atomics", &cell, 0, sample).unwrap();
        let again = Store::resume(folder.path(), &asked()).unwrap();
        let kept = again.samples("atomics", &cell);
        assert_eq!(kept, store.samples("atomics", &cell), "the same before and after");
        assert_eq!(kept[0].values, [("ns".to_owned(), vec![4.0])].into());
        assert!(kept[0].estimates.is_empty() && kept[0].totals.is_empty());
        let lacking: Vec<&str> = kept[0].unavailable.keys().map(String::as_str).collect();
        assert_eq!(lacking, ["collections", "rate", "speed"]);
        assert!(kept[0].unavailable["rate"].contains("not a number"), "{:?}", kept[0].unavailable);
    }

    #[test]
    fn folders_are_numbered() {
        let parent = tempfile::tempdir().unwrap();
        assert!(last_folder(parent.path()).is_err());
        for name in ["terrace-lab", "terrace-lab-2"] {
            let folder = new_folder(parent.path());
            assert!(folder.ends_with(name));
            fs::create_dir(&folder).unwrap();
            assert_eq!(last_folder(parent.path()).unwrap(), folder);
        }
    }

    #[test]
    fn two_runs_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Store::resume(folder.path(), &asked()).is_err_and(|error| error.exit_code() == 2));
        Store::create(folder.path(), &asked()).unwrap();
        let error = Store::create(folder.path(), &asked()).err().unwrap().to_string();
        assert!(error.contains("--resume"), "{error}");
        let newer = Header { terrace: "2".into(), ..asked() };
        assert!(
            Store::resume(folder.path(), &newer).err().unwrap().to_string().contains("started by terrace 1")
        );
    }
}
