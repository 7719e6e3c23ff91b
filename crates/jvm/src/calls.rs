//! What each call of a workload took, and each of its steps, from the file that it writes them to: those of one kind do the same work.

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
    /// Those of one kind do the same.
    pub kind: u32,
    /// When it began, on the clock of [`crate::os::monotonic`].
    pub begin: Duration,
    /// When it ended.
    pub end: Duration,
    /// CPU time that its thread used in between.
    pub cpu: Duration,
}

/// What the file has so far, in the order in which it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    pub calls: Vec<Call>,
    /// All that the calls consist of: each has one step at least.
    pub steps: Vec<Call>,
}

/// The file, from the time that the workload has made it.
pub struct CallFile {
    path: PathBuf,
    mapped: Option<Mapped>,
    recorded: Recorded,
    looked_at: usize,
}

struct Mapped {
    words: SharedWords,
    /// Records that have room.
    room: usize,
    /// Kinds of calls: from this one on they are of steps.
    kinds: u32,
}

impl CallFile {
    /// A file that may not be there yet.
    pub fn at(path: &Path) -> CallFile {
        CallFile { path: path.to_owned(), mapped: None, recorded: Recorded::default(), looked_at: 0 }
    }

    fn map(&self) -> Option<Mapped> {
        let file = File::open(&self.path).ok()?;
        let header = SharedWords::map(&file, HEADER).ok()?;
        let room = header.get(2);
        if header.get(0) != MAGIC || !(1..=MOST_RECORDS).contains(&room) {
            return None;
        }
        let bytes = HEADER + room as usize * RECORD_WORDS * 8;
        let words = SharedWords::map(&file, bytes).ok()?;
        Some(Mapped { words, room: room as usize, kinds: header.get(3) as u32 })
    }

    /// All so far. One that is being written ends the list for now.
    pub fn read(&mut self) -> &Recorded {
        if self.mapped.is_none() {
            self.mapped = self.map();
        }
        if let Some(Mapped { words, room, kinds }) = &self.mapped {
            let claimed = (words.get(1) as usize).min(*room);
            while self.looked_at < claimed {
                let at = HEADER / 8 + self.looked_at * RECORD_WORDS;
                let kind = words.get(at);
                if kind == 0 {
                    break;
                }
                let time = |word| Duration::from_nanos(words.get(at + word));
                let kind = (kind - 1) as u32;
                let list = if kind < *kinds { &mut self.recorded.calls } else { &mut self.recorded.steps };
                list.push(Call { kind, begin: time(1), end: time(2), cpu: time(3) });
                self.looked_at += 1;
            }
        }
        &self.recorded
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
        assert_eq!(*calls.read(), Recorded::default());
        let file = File::create(&path).unwrap();
        file.set_len(128 + 32 * 2).unwrap();
        let put = |at: usize, value: u64| file.write_all_at(&value.to_ne_bytes(), at as u64).unwrap();
        put(16, 2);
        put(24, 5);
        put(8, 9);
        put(0, MAGIC);
        assert_eq!(*calls.read(), Recorded::default(), "claimed, not written");
        for (word, value) in [(1, 100), (2, 900), (3, 55), (0, 5)] {
            put(128 + 8 * word, value);
        }
        let nanos = Duration::from_nanos;
        let expected = Call { kind: 4, begin: nanos(100), end: nanos(900), cpu: nanos(55) };
        assert_eq!(calls.read().calls, [expected]);
        assert_eq!(calls.read().calls, [expected]);
        put(160, 6);
        let recorded = calls.read();
        assert_eq!(
            (recorded.calls.len(), recorded.steps.len()),
            (1, 1),
            "room for two, whatever was claimed"
        );
        assert_eq!(recorded.steps[0].kind, 5);
    }
}
