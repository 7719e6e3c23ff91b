//! What each call of a workload took, from the file that it writes them to: calls of one kind do the same work.

use crate::os::SharedWords;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MAGIC: u64 = u64::from_ne_bytes(*b"TERRCALL");
const HEADER: usize = 128;
const RECORD_WORDS: usize = 4;
const MOST_RECORDS: u64 = 1 << 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Calls of one kind do the same.
    pub kind: u32,
    /// When it began, on the clock of [`crate::os::monotonic`].
    pub begin: Duration,
    /// When it ended.
    pub end: Duration,
    /// CPU time that its thread used in between.
    pub cpu: Duration,
}

/// The file, from the time that the workload has made it.
pub struct CallFile {
    path: PathBuf,
    mapped: Option<(SharedWords, usize)>,
    calls: Vec<Call>,
    looked_at: usize,
}

impl CallFile {
    /// A file that may not be there yet.
    pub fn at(path: &Path) -> CallFile {
        CallFile { path: path.to_owned(), mapped: None, calls: Vec::new(), looked_at: 0 }
    }

    fn map(&self) -> Option<(SharedWords, usize)> {
        let file = File::open(&self.path).ok()?;
        let header = SharedWords::map(&file, HEADER).ok()?;
        let room = header.get(2);
        if header.get(0) != MAGIC || !(1..=MOST_RECORDS).contains(&room) {
            return None;
        }
        let bytes = HEADER + room as usize * RECORD_WORDS * 8;
        SharedWords::map(&file, bytes).ok().map(|words| (words, room as usize))
    }

    /// All calls so far, in the order in which they ended. One that is being written ends the list for now.
    pub fn read(&mut self) -> &[Call] {
        if self.mapped.is_none() {
            self.mapped = self.map();
        }
        if let Some((words, room)) = &self.mapped {
            let claimed = (words.get(1) as usize).min(*room);
            while self.looked_at < claimed {
                let at = HEADER / 8 + self.looked_at * RECORD_WORDS;
                let kind = words.get(at);
                if kind == 0 {
                    break;
                }
                let time = |word| Duration::from_nanos(words.get(at + word));
                let kind = (kind - 1) as u32;
                self.calls.push(Call { kind, begin: time(1), end: time(2), cpu: time(3) });
                self.looked_at += 1;
            }
        }
        &self.calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn calls_are_read_as_they_are_completed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("calls");
        let mut calls = CallFile::at(&path);
        assert!(calls.read().is_empty());
        let file = File::create(&path).unwrap();
        file.set_len(128 + 32 * 2).unwrap();
        let put = |at: usize, value: u64| file.write_all_at(&value.to_ne_bytes(), at as u64).unwrap();
        put(16, 2);
        put(8, 9);
        put(0, MAGIC);
        assert!(calls.read().is_empty(), "claimed, not written");
        for (word, value) in [(1, 100), (2, 900), (3, 55), (0, 5)] {
            put(128 + 8 * word, value);
        }
        let nanos = Duration::from_nanos;
        let expected = Call { kind: 4, begin: nanos(100), end: nanos(900), cpu: nanos(55) };
        assert_eq!(calls.read(), [expected]);
        assert_eq!(calls.read(), [expected]);
        put(160, 1);
        assert_eq!(calls.read().len(), 2, "room for two, whatever was claimed");
    }
}
