//! HotSpot's own counters of a running JVM, from the file that it keeps mapped for `jstat` (`perfMemory.hpp`): no JDK is asked, and
//! the JVM does nothing for it.

use crate::os;
use crate::printable;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The first word of the file, big-endian on every machine.
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
/// Collectors that count phases, not collections.
const OF_PHASES: [&str; 2] = ["Shenandoah", "Z"];
/// More than any JVM has (`PerfDataMemorySize` is 32 KB).
const MOST_BYTES: u64 = 4 << 20;

/// What the counters said at one moment: whole numbers, and texts.
#[derive(Clone, Debug, Default)]
pub struct PerfData {
    /// As they were read: names are compared where they stand.
    bytes: Vec<u8>,
    entries: Vec<(Range<usize>, i64)>,
    texts: Vec<(Range<usize>, Range<usize>)>,
}

/// A JVM's counters, held open: what gets its name later is not read.
#[derive(Clone, Debug)]
pub struct PerfFile(Arc<File>);

impl PerfFile {
    /// Of a process, whatever its mount and PID namespaces. `None` with `-XX:-UsePerfData`, and for what is no JVM.
    pub fn of(pid: u32) -> Option<PerfFile> {
        PerfFolders::default().file_of(pid)
    }

    /// A plain file of this owner. Others write to the folders that it lies in: it may be a link to a file that only we can read, or a pipe
    /// that nobody writes to.
    fn open(path: &Path, owner: u32) -> Option<PerfFile> {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
        let found = file.metadata().ok()?;
        (found.is_file() && found.uid() == owner).then(|| PerfFile(Arc::new(file)))
    }

    /// The counters now. `None` when the JVM has ended, which then removes the file.
    pub fn read(&self) -> Option<PerfData> {
        let found = self.0.metadata().ok()?;
        if found.nlink() == 0 || found.len() > MOST_BYTES {
            return None;
        }
        let mut bytes = vec![0; found.len() as usize];
        self.0.read_exact_at(&mut bytes, 0).ok()?;
        PerfData::parse(bytes)
    }
}

/// The folders of counters that were found, one for each user in each file system's `/tmp`, which may hold many other files: for those
/// who ask about many processes.
#[derive(Clone, Debug, Default)]
pub struct PerfFolders(BTreeMap<(u64, u64), Listed>);

#[derive(Clone, Debug)]
struct Listed {
    /// Seconds and nanoseconds of the last change.
    changed: (i64, i64),
    /// Whether that was over when the names were read.
    is_settled: bool,
    names: Vec<OsString>,
}

impl PerfFolders {
    /// As [`PerfFile::of`].
    pub fn file_of(&mut self, pid: u32) -> Option<PerfFile> {
        let process = PathBuf::from(format!("/proc/{pid}"));
        let owner = process.metadata().ok()?.uid();
        let status = os::read_text(process.join("status")).ok()?;
        let own = status
            .lines()
            .find_map(|line| line.strip_prefix("NSpid:"))?
            .split_whitespace()
            .last()?
            .to_owned();
        let parent = process.join("root/tmp");
        let mut folders = self.names(&parent)?.iter().map(|name| parent.join(name));
        let file = folders.find_map(|folder| PerfFile::open(&folder.join(&own), owner))?;
        file.read().map(|_| file)
    }

    fn names(&mut self, parent: &Path) -> Option<&[OsString]> {
        let found = fs::metadata(parent).ok()?;
        let (place, changed) = ((found.dev(), found.ino()), (found.mtime(), found.mtime_nsec()));
        if self.0.get(&place).is_none_or(|listed| !listed.is_settled || listed.changed != changed) {
            // The clock that files are stamped with is coarse: within one of its steps a change may follow that has the same time.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let is_settled = now.as_secs() as i64 > changed.0 + 1;
            let names = fs::read_dir(parent).ok()?.flatten().map(|entry| entry.file_name());
            let names = names.filter(|name| name.as_bytes().starts_with(b"hsperfdata_")).collect();
            self.0.insert(place, Listed { changed, is_settled, names });
        }
        self.0.get(&place).map(|listed| listed.names.as_slice())
    }
}

impl PerfData {
    /// `None` if these are no counters, of a version that we know, or they are not complete yet.
    pub fn parse(mut bytes: Vec<u8>) -> Option<PerfData> {
        let [order, major] = [*bytes.get(4)?, *bytes.get(5)?];
        // Written by a JVM of this machine, so in its order; 2 is the only version since 5.0.
        if bytes.get(..4)? != MAGIC || (order == 1) != cfg!(target_endian = "little") || major != 2 {
            return None;
        }
        let (mut at, count) = (number(&bytes, 24)?, number(&bytes, 28)?);
        let (mut entries, mut texts) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let entry = bytes.get(at..)?;
            let (length, name, vector, data) =
                (number(entry, 0)?, number(entry, 4)?, number(entry, 8)?, number(entry, 16)?);
            let entry = entry.get(..length).filter(|_| length >= 20)?;
            let letters = |bytes: &[u8]| bytes.iter().take_while(|byte| **byte != 0).count();
            let named = at + name..at + name + letters(entry.get(name..)?);
            if entry[12] == b'J' && vector == 0 {
                let value = entry.get(data..data.checked_add(8)?)?.as_chunks::<8>().0.first()?;
                entries.push((named, i64::from_ne_bytes(*value)));
            } else if entry[12] == b'B' && vector > 0 {
                let length = letters(entry.get(data..data.checked_add(vector)?)?);
                texts.push((named, at + data..at + data + length));
            }
            at = at.checked_add(length)?;
        }
        for (_, place) in &texts {
            printable::in_place(&mut bytes[place.clone()]);
        }
        Some(PerfData { bytes, entries, texts })
    }

    /// A counter by its name, such as `sun.gc.tlab.fills`.
    pub fn get(&self, name: &str) -> Option<u64> {
        let is = |place: &Range<usize>| self.bytes[place.clone()] == *name.as_bytes();
        let found = self.entries.iter().find(|(place, _)| is(place));
        found.and_then(|(_, value)| u64::try_from(*value).ok())
    }

    /// A text by its name, such as `sun.gc.lastCause`.
    pub fn text(&self, name: &str) -> Option<&str> {
        let is = |place: &Range<usize>| self.bytes[place.clone()] == *name.as_bytes();
        let (_, place) = self.texts.iter().find(|(place, _)| is(place))?;
        std::str::from_utf8(&self.bytes[place.clone()]).ok()
    }

    /// Collections so far by each collector: 0 is the young one, 1 the full one; 2 are the pauses of G1's concurrent cycle.
    pub fn collections_of_each(&self) -> [u64; 4] {
        [0, 1, 2, 3].map(|number| self.get(&format!("sun.gc.collector.{number}.invocations")).unwrap_or(0))
    }

    /// Of all collectors.
    pub fn collections(&self) -> u64 {
        self.collections_of_each().iter().sum()
    }

    /// Seconds so far in which all threads stood still, or stopped one after the other: the time at safepoints has not that of reaching them
    /// since the JDKs that have `SafepointTracing::end`. JDK 11 has not (its log and its counters agree so), 17 has.
    pub fn stopped_seconds(&self) -> Option<f64> {
        let version = self.text("java.property.java.vm.specification.version");
        let is_old = version.is_some_and(|jdk| jdk.starts_with("1.") || jdk == "11");
        let reaching = self.seconds("sun.rt.safepointSyncTime").filter(|_| !is_old);
        Some(self.seconds("sun.rt.safepointTime")? + reaching.unwrap_or(0.0))
    }

    /// Seconds so far in the pauses of all collectors. Shenandoah counts its concurrent phases as well (`ShenandoahMonitoringSupport`). `None`
    /// where there are no such counters.
    pub fn collecting_seconds(&self) -> Option<f64> {
        let of_one = |number| self.seconds(&format!("sun.gc.collector.{number}.time"));
        (0..4).filter_map(of_one).reduce(|sum, seconds| sum + seconds)
    }

    /// The same for the young collector, the full one, and G1's concurrent cycle. `None` where the collector counts phases.
    pub fn collecting_seconds_of_each(&self) -> Option<[f64; 3]> {
        self.collecting_seconds().filter(|_| !self.counts_phases())?;
        Some([0, 1, 2].map(|number| self.seconds(&format!("sun.gc.collector.{number}.time")).unwrap_or(0.0)))
    }

    /// Whether what is counted as collections are phases of concurrent ones.
    pub fn counts_phases(&self) -> bool {
        let named = |number: u32| self.text(&format!("sun.gc.collector.{number}.name"));
        (0..4).filter_map(named).any(|name| OF_PHASES.iter().any(|collector| name.starts_with(collector)))
    }

    /// Seconds, of a counter in the JVM's ticks.
    pub fn seconds(&self, name: &str) -> Option<f64> {
        let frequency = self.get("sun.os.hrt.frequency").filter(|frequency| *frequency > 0)?;
        Some(self.get(name)? as f64 / frequency as f64)
    }
}

/// A 32-bit number that is not negative.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at.checked_add(4)?)?.as_chunks::<4>().0.first()?;
    usize::try_from(i32::from_ne_bytes(*word)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A whole number.
    fn entry(name: &str, kind: u8, value: i64) -> Vec<u8> {
        let data = (20 + name.len() + 1).next_multiple_of(8);
        let mut bytes = Vec::new();
        for word in [data as i32 + 8, 20, 0] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend([kind, 0, 1, 1]);
        bytes.extend((data as i32).to_ne_bytes());
        bytes.extend(name.as_bytes());
        bytes.resize(data, 0);
        bytes.extend(value.to_ne_bytes());
        bytes
    }

    /// A text, in as many bytes as HotSpot has for it.
    fn text(name: &str, value: &str, length: usize) -> Vec<u8> {
        let data = 20 + name.len() + 1;
        let mut bytes = Vec::new();
        for word in [(data + length).next_multiple_of(8), 20, length] {
            bytes.extend((word as i32).to_ne_bytes());
        }
        bytes.extend([b'B', 0, 5, 1]);
        bytes.extend((data as i32).to_ne_bytes());
        bytes.extend(name.as_bytes());
        bytes.push(0);
        bytes.extend(value.as_bytes());
        bytes.resize((data + length).next_multiple_of(8), 0);
        bytes
    }

    fn file(entries: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([cfg!(target_endian = "little") as u8, 2, 0, 1]);
        bytes.resize(24, 0);
        bytes.extend(32i32.to_ne_bytes());
        bytes.extend((entries.len() as i32).to_ne_bytes());
        bytes.extend(entries.concat());
        bytes
    }

    #[test]
    fn folders_are_listed_again_when_something_has_changed() {
        let parent = tempfile::tempdir().unwrap();
        let mut folders = PerfFolders::default();
        let names = |folders: &mut PerfFolders| folders.names(parent.path()).unwrap().len();
        let long_ago = |seconds| {
            let at = UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            fs::File::open(parent.path()).unwrap().set_modified(at).unwrap();
        };
        fs::create_dir(parent.path().join("another")).unwrap();
        assert_eq!(names(&mut folders), 0);
        // Within the clock's step: the same time does not say that nothing has come.
        fs::create_dir(parent.path().join("hsperfdata_a")).unwrap();
        assert_eq!(names(&mut folders), 1);
        long_ago(1000);
        assert_eq!(names(&mut folders), 1);
        fs::create_dir(parent.path().join("hsperfdata_b")).unwrap();
        long_ago(1000);
        assert_eq!(names(&mut folders), 1, "nobody has read it again");
        long_ago(1001);
        assert_eq!(names(&mut folders), 2);
        assert!(folders.names(&parent.path().join("none")).is_none());
    }

    #[test]
    fn threads_stand_still_while_others_are_being_stopped() {
        let stopped = |jdk: &str, reaching: &str| {
            let entries = [
                text("java.property.java.vm.specification.version", jdk, 8),
                entry("sun.os.hrt.frequency", b'J', 1000),
                entry("sun.rt.safepointTime", b'J', 1500),
                entry(reaching, b'J', 500),
            ];
            PerfData::parse(file(&entries)).unwrap().stopped_seconds()
        };
        assert_eq!(stopped("25", "sun.rt.safepointSyncTime"), Some(2.0));
        assert_eq!(stopped("1.8", "sun.rt.safepointSyncTime"), Some(1.5), "it has both");
        assert_eq!(stopped("25", "none"), Some(1.5));
    }

    #[test]
    fn the_time_of_all_collectors_is_summed() {
        let entries = [
            entry("sun.os.hrt.frequency", b'J', 1000),
            entry("sun.gc.collector.0.time", b'J', 1500),
            entry("sun.gc.collector.2.time", b'J', 500),
        ];
        let seconds = |count: usize| PerfData::parse(file(&entries[..count])).unwrap().collecting_seconds();
        assert_eq!((seconds(3), seconds(1)), (Some(2.0), None));
        let named = |name: &str| {
            let name = [text("sun.gc.collector.0.name", name, 32)];
            PerfData::parse(file(&[&entries[..], &name[..]].concat())).unwrap()
        };
        let each = |name: &str| named(name).collecting_seconds_of_each();
        assert_eq!((each("G1 young"), each("ZGC minor")), (Some([1.5, 0.0, 0.5]), None));
    }

    #[test]
    fn counters_are_read_by_name() {
        let bytes = file(&[
            entry("sun.gc.tlab.fills", b'J', 65),
            entry("java.property.java.vm.version", b'B', 0),
            entry("sun.os.hrt.frequency", b'J', 1000),
            entry("sun.rt.safepointTime", b'J', 1500),
            entry("sun.gc.collector.0.invocations", b'J', 3),
            entry("sun.gc.collector.1.invocations", b'J', 2),
            text("sun.gc.lastCause", "Allocation Failure", 64),
        ]);
        let data = PerfData::parse(bytes).unwrap();
        assert_eq!((data.get("sun.gc.tlab.fills"), data.collections()), (Some(65), 5));
        assert_eq!((data.seconds("sun.rt.safepointTime"), data.seconds("none")), (Some(1.5), None));
        assert_eq!(data.get("java.property.java.vm.version"), None);
        assert_eq!(data.collections_of_each(), [3, 2, 0, 0]);
        assert_eq!((data.text("sun.gc.lastCause"), data.text("none")), (Some("Allocation Failure"), None));
        assert_eq!(data.text("sun.gc.tlab.fills"), None, "a number is no text");
    }

    #[test]
    fn texts_have_nothing_that_a_terminal_obeys() {
        let bytes = file(&[text("sun.gc.lastCause", "G1\u{1b}[2J\u{9b}1m \u{e9}", 64)]);
        let data = PerfData::parse(bytes).unwrap();
        assert_eq!(data.text("sun.gc.lastCause"), Some("G1 [2J  1m \u{e9}"));
    }

    fn of_us(path: &Path) -> Option<PerfFile> {
        PerfFile::open(path, crate::os::user())
    }

    #[test]
    fn what_gets_the_name_of_a_file_later_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let (path, away) = (folder.path().join("1"), folder.path().join("away"));
        fs::write(&path, file(&[entry("a", b'J', 1)])).unwrap();
        let counters = of_us(&path).unwrap();
        fs::rename(&path, &away).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert_eq!(counters.read().unwrap().get("a"), Some(1));
        fs::remove_file(&away).unwrap();
        assert!(counters.read().is_none(), "its JVM has ended");
    }

    #[test]
    fn only_plain_files_of_the_owner_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), file(&[])).unwrap();
        assert!(of_us(&path("file")).is_some());
        assert!(PerfFile::open(&path("file"), crate::os::user() + 1).is_none(), "another user's");
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        // Whoever waits for a writer waits for ever.
        let made = std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap();
        assert!(made.success());
        for name in ["link", "pipe", "none"] {
            assert!(of_us(&path(name)).is_none(), "{name}");
        }
        assert!(of_us(Path::new("/dev/zero")).is_none());
    }

    #[test]
    fn a_file_that_has_grown_too_large_is_not_read() {
        let mut found = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut found, &file(&[])).unwrap();
        let counters = of_us(found.path()).unwrap();
        assert!(counters.read().is_some());
        found.as_file().set_len(MOST_BYTES + 1).unwrap();
        assert!(counters.read().is_none());
    }

    #[test]
    fn what_is_cut_or_senseless_is_no_counter() {
        let bytes = file(&[entry("a", b'J', 1), text("b", "text", 8), entry("c", b'J', 2)]);
        for length in 0..bytes.len() {
            assert!(PerfData::parse(bytes[..length].to_vec()).is_none(), "{length}");
        }
        for at in 0..bytes.len() {
            for value in [0, 0x7f, 0xff] {
                let mut broken = bytes.clone();
                broken[at] = value;
                let _ = PerfData::parse(broken);
            }
        }
        assert!(PerfFile::of(0x3fff_fff0).is_none(), "no such process");
    }
}
