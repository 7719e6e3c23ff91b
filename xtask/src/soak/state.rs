//! What a soak has done so far, a line for each round: so it can be stopped at any time and goes on where it was.

use crate::files::{at, create};
use jvm::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// What makes two runs one soak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Where all random numbers come from.
    pub seed: u64,
    /// The agent's file, as a number: rounds of two builds are no soak of either.
    pub agent: u64,
}

/// What happened in a round, or in several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    pub rounds: u64,
    /// Thread buffers that the lowest level's buffers served.
    pub refills: u64,
    /// Extents that buffers of all levels took.
    pub buffer_refills: u64,
    /// Pauses of the collector.
    pub pauses: u64,
    /// Heap walks that were asked for.
    pub walks: u64,
    /// Attempts to load the agent again.
    pub attaches: u64,
    /// Changes of the mode.
    pub switches: u64,
    /// Objects whose words were all checked.
    pub checked: u64,
    pub errors: u64,
    pub seconds: f64,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.rounds += other.rounds;
        self.refills += other.refills;
        self.buffer_refills += other.buffer_refills;
        self.pauses += other.pauses;
        self.walks += other.walks;
        self.attaches += other.attaches;
        self.switches += other.switches;
        self.checked += other.checked;
        self.errors += other.errors;
        self.seconds += other.seconds;
    }
}

/// A round that is over.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Done {
    /// Its number, from 0.
    pub round: u64,
    /// Its collector and JDK.
    pub cell: String,
    pub counts: Counts,
    pub failure: Option<String>,
}

/// The file with all of them.
pub struct State {
    path: PathBuf,
    file: File,
    /// The rounds so far.
    pub done: Vec<Done>,
}

impl State {
    /// Begins, or goes on where the same soak was.
    pub fn open(folder: &Path, header: &Header, resume: bool) -> Result<State> {
        let path = folder.join("rounds.jsonl");
        create(folder)?;
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // A line that was cut off has no end.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut lines = whole.lines();
        let mut done = Vec::new();
        if let Some(first) = lines.next() {
            let found: Option<Header> = serde_json::from_str(first).ok();
            if !resume {
                return Err(Error::usage(format!(
                    "{} already has a soak; continue with --resume, or choose another --out",
                    folder.display()
                )));
            }
            if found.as_ref() != Some(header) {
                return Err(Error::usage(format!(
                    "{}: another soak, with another seed or another build of the agent; choose another --out",
                    folder.display()
                )));
            }
            for line in lines {
                let round = serde_json::from_str(line);
                done.push(round.map_err(at(&path))?);
            }
        }
        let file = OpenOptions::new().append(true).create(true).open(&path).map_err(at(&path))?;
        let begins = whole.is_empty();
        file.set_len(if begins { 0 } else { whole.len() as u64 + 1 }).map_err(at(&path))?;
        let mut state = State { path, file, done };
        if begins {
            state.line(header)?;
        }
        Ok(state)
    }

    /// A round is over.
    pub fn add(&mut self, done: Done) -> Result<()> {
        self.line(&done)?;
        self.done.push(done);
        Ok(())
    }

    fn line(&mut self, value: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_string(value).map_err(|error| Error::failed(error.to_string()))?;
        line.push('\n');
        self.file.write_all(line.as_bytes()).map_err(at(&self.path))
    }

    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.done.iter().for_each(|done| total.add(&done.counts));
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header { seed: 1, agent: 2 };

    fn round(number: u64) -> Done {
        let counts = Counts { rounds: 1, refills: 10, ..Counts::default() };
        Done { round: number, cell: "G1 25".into(), counts, failure: None }
    }

    #[test]
    fn goes_on_behind_the_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = State::open(folder.path(), &HEADER, false).unwrap();
        state.add(round(0)).unwrap();
        state.add(round(1)).unwrap();
        let path = folder.path().join("rounds.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 5]).unwrap();
        let mut state = State::open(folder.path(), &HEADER, true).unwrap();
        assert_eq!((state.done.len(), state.total().refills), (1, 10));
        state.add(round(1)).unwrap();
        assert_eq!(State::open(folder.path(), &HEADER, true).unwrap().total().refills, 20);
    }

    #[test]
    fn two_soaks_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        State::open(folder.path(), &HEADER, true).unwrap();
        assert!(State::open(folder.path(), &HEADER, false).is_err());
        assert!(State::open(folder.path(), &Header { seed: 3, ..HEADER }, true).is_err());
        assert!(State::open(folder.path(), &Header { agent: 3, ..HEADER }, true).is_err());
    }
}
