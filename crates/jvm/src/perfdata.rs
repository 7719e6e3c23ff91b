//! HotSpot's own counters of a running JVM, from the file that it keeps mapped for `jstat` (`perfMemory.hpp`): no JDK is asked, and
//! the JVM does nothing for it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The first word of the file, big-endian on every machine.
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
/// More than any JVM has (`PerfDataMemorySize` is 32 KB).
const MOST_BYTES: u64 = 4 << 20;

/// What the counters said at one moment. Those that are no whole numbers are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PerfData(BTreeMap<String, i64>);

/// Where a JVM's counters are.
#[derive(Clone, Debug)]
pub struct PerfFile(PathBuf);

impl PerfFile {
    /// Of a process, whatever its mount and PID namespaces. `None` with `-XX:-UsePerfData`, and for what is no JVM.
    pub fn of(pid: u32) -> Option<PerfFile> {
        let process = PathBuf::from(format!("/proc/{pid}"));
        let owner = process.metadata().ok()?.uid();
        let status = fs::read_to_string(process.join("status")).ok()?;
        let own = status
            .lines()
            .find_map(|line| line.strip_prefix("NSpid:"))?
            .split_whitespace()
            .last()?
            .to_owned();
        let folders = fs::read_dir(process.join("root/tmp")).ok()?.flatten();
        let found = folders
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("hsperfdata_"))
            .map(|entry| entry.path().join(&own))
            .find(|path| is_owned(path, owner))?;
        let file = PerfFile(found);
        file.read().map(|_| file)
    }

    /// The counters now. `None` when the JVM has ended.
    pub fn read(&self) -> Option<PerfData> {
        PerfData::parse(&fs::read(&self.0).ok()?)
    }
}

/// A plain file of this owner: another user's must not have us read whatever he likes.
fn is_owned(path: &Path, owner: u32) -> bool {
    fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_file() && found.uid() == owner && found.len() <= MOST_BYTES)
}

impl PerfData {
    /// `None` if these are no counters, of a version that we know, or they are not complete yet.
    pub fn parse(bytes: &[u8]) -> Option<PerfData> {
        let [order, major] = [*bytes.get(4)?, *bytes.get(5)?];
        // Written by a JVM of this machine, so in its order; 2 is the only version since 5.0.
        if bytes.get(..4)? != MAGIC || (order == 1) != cfg!(target_endian = "little") || major != 2 {
            return None;
        }
        let (mut at, entries) = (number(bytes, 24)?, number(bytes, 28)?);
        let mut found = BTreeMap::new();
        for _ in 0..entries {
            let entry = bytes.get(at..)?;
            let (length, name, vector, data) =
                (number(entry, 0)?, number(entry, 4)?, number(entry, 8)?, number(entry, 16)?);
            let entry = entry.get(..length).filter(|_| length >= 20)?;
            let name = entry.get(name..)?.split(|byte| *byte == 0).next()?;
            if entry[12] == b'J' && vector == 0 {
                let value = entry.get(data..data.checked_add(8)?)?.as_chunks::<8>().0.first()?;
                found.insert(String::from_utf8_lossy(name).into_owned(), i64::from_ne_bytes(*value));
            }
            at = at.checked_add(length)?;
        }
        Some(PerfData(found))
    }

    /// A counter by its name, such as `sun.gc.tlab.fills`.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(|value| u64::try_from(*value).ok())
    }

    /// The sum of a counter of all collectors: `invocations`, or `time` in seconds.
    pub fn collections(&self) -> u64 {
        (0..4).filter_map(|number| self.get(&format!("sun.gc.collector.{number}.invocations"))).sum()
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
    fn counters_are_read_by_name() {
        let bytes = file(&[
            entry("sun.gc.tlab.fills", b'J', 65),
            entry("java.property.java.vm.version", b'B', 0),
            entry("sun.os.hrt.frequency", b'J', 1000),
            entry("sun.rt.safepointTime", b'J', 1500),
            entry("sun.gc.collector.0.invocations", b'J', 3),
            entry("sun.gc.collector.1.invocations", b'J', 2),
        ]);
        let data = PerfData::parse(&bytes).unwrap();
        assert_eq!((data.get("sun.gc.tlab.fills"), data.collections()), (Some(65), 5));
        assert_eq!((data.seconds("sun.rt.safepointTime"), data.seconds("none")), (Some(1.5), None));
        assert_eq!(data.get("java.property.java.vm.version"), None);
    }

    #[test]
    fn what_is_cut_or_senseless_is_no_counter() {
        let bytes = file(&[entry("a", b'J', 1), entry("b", b'J', 2)]);
        for length in 0..bytes.len() {
            assert!(PerfData::parse(&bytes[..length]).is_none(), "{length}");
        }
        for at in 0..bytes.len() {
            for value in [0, 0x7f, 0xff] {
                let mut broken = bytes.clone();
                broken[at] = value;
                let _ = PerfData::parse(&broken);
            }
        }
        assert!(PerfFile::of(std::process::id()).is_none());
    }
}
