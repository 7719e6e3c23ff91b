//! The file in which a workload's workers count their operations while they run.
//!
//! Header of 128 bytes: `TERRPROG`, phase, number of slots, stride, whether a reader asks for the end, the stretch of time that a reader has
//! begun; then one slot for each worker, its operations first.

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
const MOST_SLOTS: u64 = 1 << 20;

/// What the workload is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Not yet at work.
    Starting,
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
            1 => Phase::WarmingUp,
            2 => Phase::Measuring,
            _ => Phase::Finished,
        }
    }

    /// Asks the workload to close its measured window now. One that has already is not disturbed.
    pub fn ask_to_end(&self) -> Result<()> {
        self.tell(END_ASKED, 1)
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
        put(8, 2);
        put(16, 2);
        put(24, 128);
        put(0, MAGIC);
        put(128, 5);
        put(256, 7);
        assert_eq!((progress.phase(), progress.operations()), (Phase::Measuring, Some(12)));
        put(256, 8);
        put(8, 3);
        assert_eq!((progress.phase(), progress.operations()), (Phase::Finished, Some(13)));
        progress.ask_to_end().unwrap();
        progress.begin_stretch(6).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!((bytes[32], bytes[40]), (1, 6));
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
