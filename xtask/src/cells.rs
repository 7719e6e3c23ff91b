//! The cells of a long measurement: each is kept as soon as it is done, so that a run that was interrupted can be resumed.

use crate::build;
use crate::shell::root;
use jvm::{Error, Result};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The file `target/terrace/NAME.json`: a list of objects with the fields `name` and `agent`.
pub struct Cells {
    path: PathBuf,
    agent: String,
    cells: Vec<Value>,
    total: usize,
    passed: usize,
    measured: usize,
    started: Instant,
}

/// What a cell is called: what varies, in words.
fn name_of(cell: &Value) -> &str {
    cell["name"].as_str().unwrap_or_default()
}

/// Names the agent's build: results of two of them are not mixed. (FNV-1a, 64 bits.)
fn build_of(library: &Path) -> Result<String> {
    let bytes = std::fs::read(library)
        .map_err(|error| Error::failed(format!("{}: {error}; run 'cargo xtask build'", library.display())))?;
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Ok(format!("{hash:016x}"))
}

impl Cells {
    /// For so many cells. Without `resume` it begins with none; an earlier file is kept as `NAME.before.json`.
    pub fn open(name: &str, total: usize, resume: bool) -> Result<Cells> {
        let agent = build_of(&build::installed().agent()?)?;
        Cells::at(root().join(format!("target/terrace/{name}.json")), agent, total, resume)
    }

    fn at(path: PathBuf, agent: String, total: usize, resume: bool) -> Result<Cells> {
        let failed = |error: std::io::Error| Error::failed(format!("{}: {error}", path.display()));
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut cells = Vec::new();
        if resume && path.is_file() {
            let text = std::fs::read_to_string(&path).map_err(failed)?;
            let found: Vec<Value> = serde_json::from_str(&text).map_err(|error| {
                Error::usage(format!("{}: {error}; leave --resume out to begin anew", path.display()))
            })?;
            let before = found.len();
            cells.extend(found.into_iter().filter(|cell| cell["agent"] == *agent && cell["error"].is_null()));
            if cells.len() < before {
                eprintln!(
                    "{} of {before} cells failed, or are of another build of the agent: they are measured again",
                    before - cells.len()
                );
            }
        } else if path.is_file() {
            std::fs::rename(&path, path.with_extension("before.json")).map_err(failed)?;
        }
        Ok(Cells { path, agent, cells, total, passed: 0, measured: 0, started: Instant::now() })
    }

    /// Measures a cell unless it is there already. A cell that fails is kept with its error, and the others go on; the user's
    /// Ctrl-C ends it all.
    pub fn measure(&mut self, name: &str, measure: impl FnOnce() -> Result<Value>) -> Result<()> {
        self.passed += 1;
        if self.cells.iter().any(|cell| name_of(cell) == name) {
            return Ok(());
        }
        eprintln!("[{}/{}{}] {name}", self.passed, self.total, self.left());
        let mut cell = json!({ "name": name, "agent": self.agent });
        match measure() {
            Ok(Value::Object(found)) => {
                if let Some(fields) = cell.as_object_mut() {
                    fields.extend(found);
                }
            }
            Ok(other) => cell["found"] = other,
            Err(error) if jvm::os::stopped_by().is_some() => return Err(error),
            Err(error) => {
                eprintln!("  failed: {error}");
                cell["error"] = error.to_string().into();
            }
        }
        self.measured += 1;
        self.cells.push(cell);
        self.keep()
    }

    fn left(&self) -> String {
        if self.measured == 0 {
            return String::new();
        }
        let each = self.started.elapsed() / self.measured as u32;
        let missing = self.total + 1 - self.passed;
        format!(", about {} left", human(each * missing as u32))
    }

    /// Beside the old file first, so that an interruption leaves one of the two whole.
    fn keep(&self) -> Result<()> {
        let failed = |error: std::io::Error| Error::failed(format!("{}: {error}", self.path.display()));
        let text =
            serde_json::to_string_pretty(&self.cells).map_err(|error| Error::failed(error.to_string()))?;
        let beside = self.path.with_extension("new.json");
        std::fs::write(&beside, text + "\n")
            .and_then(|()| std::fs::rename(&beside, &self.path))
            .map_err(failed)
    }

    /// The cells with these names that were measured, in this order.
    pub fn of<'a>(&'a self, names: impl Iterator<Item = &'a str>) -> Vec<&'a Value> {
        names
            .filter_map(|name| {
                self.cells.iter().find(|cell| name_of(cell) == name && cell["error"].is_null())
            })
            .collect()
    }

    /// Says where all figures are. An error if a cell failed.
    pub fn finish(&self) -> Result<()> {
        println!("all figures: {}", self.path.display());
        let failed: Vec<&str> =
            self.cells.iter().filter(|cell| !cell["error"].is_null()).map(name_of).collect();
        match failed.as_slice() {
            [] => Ok(()),
            [first, ..] => Err(Error::failed(format!(
                "{} cells failed, the first one is '{first}'; see its error in {}, and use --resume to measure them again",
                failed.len(),
                self.path.display()
            ))),
        }
    }
}

fn human(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=99 => format!("{seconds} s"),
        seconds @ 100..=5999 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_not_done_again_unless_it_failed_or_is_of_another_build() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.json");
        let open = |agent: &str, resume| Cells::at(path.clone(), agent.into(), 3, resume).unwrap();
        let mut cells = open("one", true);
        cells.measure("a", || Ok(json!({ "ratio": 1.5 }))).unwrap();
        cells.measure("b", || Err(Error::failed("no heap"))).unwrap();
        assert!(cells.finish().unwrap_err().to_string().contains("the first one is 'b'"));

        let mut cells = open("one", true);
        cells.measure("a", || panic!("is there already")).unwrap();
        cells.measure("b", || Ok(json!({ "ratio": 2.0 }))).unwrap();
        cells.finish().unwrap();
        let found = cells.of(["b", "c", "a"].into_iter());
        assert_eq!(found.iter().map(|cell| cell["ratio"].as_f64().unwrap()).collect::<Vec<_>>(), [2.0, 1.5]);

        assert!(open("another", true).of(["a"].into_iter()).is_empty());
        assert!(open("one", false).of(["a"].into_iter()).is_empty());
        assert!(folder.path().join("cells.before.json").is_file());
    }

    #[test]
    fn times_are_short() {
        let of = |seconds| human(Duration::from_secs(seconds));
        assert_eq!([of(70), of(600), of(9000)], ["70 s", "10 min", "2.5 h"]);
    }
}
