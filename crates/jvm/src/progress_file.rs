//! The file in which a workload's workers count their operations while they run.
//!
//! Header of 128 bytes: `TERRPROG`, phase, number of slots, stride, whether a reader asks for the end, the stretch of time that a reader has
//! begun, whether it asks for the measured window to open, for the work to stop, and for the work to begin; then one slot for each worker, its
//! operations first.

use crate::os::SharedWords;
use crate::{Error, Result};
use std::fs::File;
use std::path::{Path, PathBuf};

const MAGIC: u64 = u64::from_ne_bytes(*b"TERRPROG");
const HEADER: usize = 128;
/// Where a reader asks for the end: a word of the header that is not 0.
const END_ASKED: u64 = 32;
/// Where a reader says which stretch of time it has begun.
const STRETCH: u64 = 40;
/// Where a reader opens the measured window, if the workload leaves that to it.
const BEGIN_ASKED: u64 = 48;
/// Where it then says that the work may stop.
const STOP_ASKED: u64 = 56;
/// Where a reader says that the work may begin, to a workload that leaves its window to it.
const WORK_ASKED: u64 = 64;
const MOST_SLOTS: u64 = 1 << 20;

/// What the workload is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Preparing its work.
    Starting,
    /// Waiting to be asked for it; only where the reader opens the window.
    Ready,
    /// At work, not counted.
    WarmingUp,
    /// Counted.
    Measuring,
    Finished,
}

/// The file, from the time that the workload has made it.
pub struct ProgressFile {
    path: PathBuf,
    mapped: Option<(SharedWords, usize, usize)>,
}

impl ProgressFile {
    /// A file that may not be there yet.
    pub fn at(path: &Path) -> ProgressFile {
        ProgressFile { path: path.to_owned(), mapped: None }
    }

    fn map(&self) -> Option<(SharedWords, usize, usize)> {
        let file = File::open(&self.path).ok()?;
        let header = SharedWords::map(&file, HEADER).ok()?;
        let (slots, stride) = (header.get(2), header.get(3));
        if header.get(0) != MAGIC || !(1..=MOST_SLOTS).contains(&slots) || !(8..=4096).contains(&stride) {
            return None;
        }
        let bytes = HEADER + slots as usize * stride as usize;
        SharedWords::map(&file, bytes).ok().map(|words| (words, slots as usize, stride as usize))
    }

    /// The phase; `Starting` as long as there is no file.
    pub fn phase(&mut self) -> Phase {
        if self.mapped.is_none() {
            self.mapped = self.map();
        }
        match self.mapped.as_ref().map_or(0, |(words, ..)| words.get(1)) {
            0 => Phase::Starting,
            1 => Phase::Ready,
            2 => Phase::WarmingUp,
            3 => Phase::Measuring,
            _ => Phase::Finished,
        }
    }

    /// Asks the workload to close its measured window now. One that has already is not disturbed.
    pub fn ask_to_end(&self) -> Result<()> {
        self.tell(END_ASKED, 1)
    }

    /// Lets a workload begin its work that waits for that.
    pub fn ask_to_work(&self) -> Result<()> {
        self.tell(WORK_ASKED, 1)
    }

    /// Opens the measured window of a workload that leaves it to us.
    pub fn ask_to_begin(&self) -> Result<()> {
        self.tell(BEGIN_ASKED, 1)
    }

    /// Lets such a workload stop, whose window is closed.
    pub fn ask_to_stop(&self) -> Result<()> {
        self.tell(STOP_ASKED, 1)
    }

    /// Says that a stretch of time begins; 0 ends it.
    pub fn begin_stretch(&self, number: u64) -> Result<()> {
        self.tell(STRETCH, number)
    }

    fn tell(&self, at: u64, word: u64) -> Result<()> {
        use std::os::unix::fs::FileExt;
        let told = File::options()
            .write(true)
            .open(&self.path)
            .and_then(|file| file.write_all_at(&word.to_ne_bytes(), at));
        told.map_err(|error| Error::failed(format!("{}: {error}", self.path.display())))
    }

    /// Operations of all workers since the start. `None` before there is a file.
    pub fn operations(&self) -> Option<u64> {
        let (words, slots, stride) = self.mapped.as_ref()?;
        Some((0..*slots).map(|slot| words.get((HEADER + slot * stride) / 8)).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn the_workers_operations_are_summed_as_they_grow() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("progress");
        let mut progress = ProgressFile::at(&path);
        assert_eq!((progress.phase(), progress.operations()), (Phase::Starting, None));

        let file = File::create(&path).unwrap();
        file.set_len(128 * 3).unwrap();
        assert_eq!(progress.phase(), Phase::Starting, "no magic yet");
        let put = |at, value: u64| file.write_all_at(&value.to_ne_bytes(), at).unwrap();
        put(8, 3);
        put(16, 2);
        put(24, 128);
        put(0, MAGIC);
        put(128, 5);
        put(256, 7);
        assert_eq!((progress.phase(), progress.operations()), (Phase::Measuring, Some(12)));
        put(256, 8);
        put(8, 4);
        assert_eq!((progress.phase(), progress.operations()), (Phase::Finished, Some(13)));
        progress.ask_to_end().unwrap();
        progress.begin_stretch(6).unwrap();
        let asked = |progress: &std::path::Path| {
            let bytes = std::fs::read(progress).unwrap();
            [32, 40, 48, 56, 64].map(|at| bytes[at])
        };
        assert_eq!(asked(&path), [1, 6, 0, 0, 0]);
        progress.ask_to_begin().unwrap();
        progress.ask_to_stop().unwrap();
        assert_eq!(asked(&path), [1, 6, 1, 1, 0]);
        progress.ask_to_work().unwrap();
        assert_eq!(asked(&path), [1, 6, 1, 1, 1]);
        assert_eq!(progress.operations(), Some(13));
    }

    #[test]
    fn a_file_that_is_too_short_for_its_slots_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("progress");
        let mut bytes = [0; 128];
        bytes[..8].copy_from_slice(b"TERRPROG");
        bytes[16] = 200;
        bytes[24] = 128;
        std::fs::write(&path, bytes).unwrap();
        let mut progress = ProgressFile::at(&path);
        assert_eq!((progress.phase(), progress.operations()), (Phase::Starting, None));
    }
}
