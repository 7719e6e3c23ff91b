//! When a JVM's threads stood still, read from its own log while it is written.
//!
//! `tn` decorates each line with the clock that [`crate::os::monotonic`] reads, so that a stop can be laid beside a window to
//! the microsecond.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The JVM's threads stood still from here to there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// From the request on.
    pub from: Duration,
    /// Until they ran again.
    pub to: Duration,
    /// For a collection, or a part of one.
    pub collection: bool,
}

/// What stops did to a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stopped {
    /// Seconds of it in which the threads stood still.
    pub seconds: f64,
    /// Stops for collections that began in it.
    pub pauses: f64,
    /// Seconds of collections' stops in it.
    pub pause_seconds: f64,
}

impl std::ops::AddAssign for Stopped {
    fn add_assign(&mut self, other: Stopped) {
        self.seconds += other.seconds;
        self.pauses += other.pauses;
        self.pause_seconds += other.pause_seconds;
    }
}

/// The log of one JVM.
#[derive(Debug)]
pub struct StopLog {
    path: PathBuf,
    read: u64,
    rest: Vec<u8>,
    stops: Vec<Stop>,
    /// Of JDK 11, which says what it stops for in a line of its own.
    operation: Option<String>,
}

impl StopLog {
    /// The flag that makes a JVM write it. `path` may have `%p`, which becomes the process ID.
    pub fn flag(path: &Path) -> String {
        format!("-Xlog:safepoint=info:file={}:tn:filecount=0", path.display())
    }

    /// A log that may not be there yet.
    pub fn at(path: &Path) -> StopLog {
        StopLog { path: path.to_owned(), read: 0, rest: Vec::new(), stops: Vec::new(), operation: None }
    }

    /// Whether this is the log there.
    pub fn is_at(&self, path: &Path) -> bool {
        self.path == path
    }

    /// All stops so far, in the order in which they ended. `None` as long as there is no log.
    pub fn read(&mut self) -> Option<&[Stop]> {
        let mut file = File::open(&self.path).ok()?;
        let mut new = Vec::new();
        file.seek(SeekFrom::Start(self.read)).and_then(|_| file.read_to_end(&mut new)).ok()?;
        self.read += new.len() as u64;
        self.rest.extend(new);
        let whole = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = self.rest.drain(..whole).collect();
        for text in String::from_utf8_lossy(&lines).lines() {
            let stop = line(text).or_else(|| self.old_line(text));
            self.stops.extend(stop);
        }
        Some(&self.stops)
    }

    /// `[15536867446386ns] Entering safepoint region: RevokeBias`, and after it `Total time for which application threads were stopped: 0.0001502 seconds,
    /// Stopping threads took: ...` (11).
    fn old_line(&mut self, text: &str) -> Option<Stop> {
        let (stamp, rest) = stamped(text)?;
        if let Some(name) = rest.strip_prefix("Entering safepoint region: ") {
            self.operation = Some(name.trim().to_owned());
            return None;
        }
        let total = rest.strip_prefix("Total time for which application threads were stopped: ")?;
        let seconds: f64 = total.split_once(" seconds")?.0.parse().ok()?;
        let total = Duration::try_from_secs_f64(seconds).ok()?;
        let collection = self.operation.take().is_some_and(|name| is_collection(&name));
        Some(Stop { from: stamp.saturating_sub(total), to: stamp, collection })
    }
}

/// A line's time, and what it says.
fn stamped(text: &str) -> Option<(Duration, &str)> {
    let (stamp, rest) = text.strip_prefix('[')?.split_once("ns]")?;
    Some((Duration::from_nanos(stamp.trim().parse().ok()?), rest.trim_start()))
}

/// What stops did from here to there. The stops are in the order of time and do not overlap.
pub fn between(stops: &[Stop], from: Duration, to: Duration) -> Stopped {
    let first = stops.partition_point(|stop| stop.to <= from);
    let mut stopped = Stopped::default();
    for stop in stops[first..].iter().take_while(|stop| stop.from < to) {
        let seconds = stop.to.min(to).saturating_sub(stop.from.max(from)).as_secs_f64();
        stopped.seconds += seconds;
        if stop.collection {
            stopped.pause_seconds += seconds;
            stopped.pauses += f64::from(u8::from(stop.from >= from));
        }
    }
    stopped
}

/// `[1966204102650ns] Safepoint "Name", ..., Total: 472007126 ns` (17, 21, 25).
fn line(text: &str) -> Option<Stop> {
    let (to, rest) = stamped(text)?;
    let (name, rest) = rest.strip_prefix("Safepoint \"")?.split_once('"')?;
    let total = rest.split_once("Total:")?.1.trim_start().split_once(" ns")?.0;
    let from = to.saturating_sub(Duration::from_nanos(total.parse().ok()?));
    Some(Stop { from, to, collection: is_collection(name) })
}

/// HotSpot's names of the operations that collect, by collector and version.
fn is_collection(name: &str) -> bool {
    ["Collect", "FailedAllocation", "G1", "CGC_Operation", "Shenandoah", "GenFull", "ParallelGC", "SerialGC"]
        .iter()
        .any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const LOG: &str = r#"[1000ns] Safepoint "ParallelCollectForAllocation", Time since last: 8525891284 ns, Reaching safepoint: 10 ns, At safepoint: 20 ns, Leaving safepoint: 30 ns, Total: 60 ns, Threads: 4 runnable, 18 total
[2000ns] Safepoint "ICBufferFull", Time since last: 1 ns, Reaching safepoint: 5500 ns, Cleanup: 122630 ns, At safepoint: 5494484 ns, Total: 100 ns
[3000ns] Safepoint "G1CollectForAllocation", Time since last: 1 ns, Total: 500 ns
"#;

    fn nanos(number: u64) -> Duration {
        Duration::from_nanos(number)
    }

    #[test]
    fn stops_are_read_as_they_are_written_never_half() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut log = StopLog::at(file.path());
        assert_eq!(log.read(), Some([].as_slice()));
        let (first, rest) = LOG.split_at(300);
        file.write_all(first.as_bytes()).unwrap();
        assert_eq!(log.read().unwrap(), [Stop { from: nanos(940), to: nanos(1000), collection: true }]);
        file.write_all(rest.as_bytes()).unwrap();
        let stops = log.read().unwrap();
        assert_eq!(stops[1], Stop { from: nanos(1900), to: nanos(2000), collection: false });
        assert_eq!(stops[2], Stop { from: nanos(2500), to: nanos(3000), collection: true });
        assert_eq!(StopLog::at(Path::new("/no/such/log")).read(), None);
    }

    #[test]
    fn stops_of_jdk_11_are_read_too() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut log = StopLog::at(file.path());
        file.write_all(
            b"[900ns] Application time: 0.0031861 seconds\n[1000ns] Entering safepoint region: ParallelGCFailedAllocation\n\
              [4500ns] Leaving safepoint region\n",
        )
        .unwrap();
        assert_eq!(log.read(), Some([].as_slice()));
        file.write_all(
            b"[5000ns] Total time for which application threads were stopped: 0.0000045 seconds, Stopping threads took: 0.0000008 seconds\n\
              [6000ns] Entering safepoint region: RevokeBias\n[9000ns] Total time for which application threads were stopped: 0.0000035 \
              seconds, Stopping threads took: 0.0000001 seconds\n",
        )
        .unwrap();
        let stop = |from, to, collection| Stop { from: nanos(from), to: nanos(to), collection };
        assert_eq!(log.read().unwrap(), [stop(500, 5000, true), stop(5500, 9000, false)]);
    }

    #[test]
    fn a_stop_across_a_border_counts_by_its_parts_and_once() {
        let stops: Vec<Stop> = LOG.lines().filter_map(line).collect();
        let of = |from, to| between(&stops, nanos(from), nanos(to));
        let (whole, first, second) = (of(0, 9000), of(0, 2600), of(2600, 9000));
        assert!((whole.seconds - 660e-9).abs() < 1e-15 && (whole.pause_seconds - 560e-9).abs() < 1e-15);
        assert_eq!((whole.pauses, first.pauses, second.pauses), (2.0, 2.0, 0.0));
        assert!((first.seconds + second.seconds - whole.seconds).abs() < 1e-15);
        assert_eq!(of(1000, 1900), Stopped::default());
    }

    #[test]
    fn every_collectors_operations_are_known() {
        for name in [
            "GenCollectForAllocation",
            "SerialCollectForAllocation",
            "ParallelGCFailedAllocation",
            "ParallelCollectForAllocation",
            "G1CollectForAllocation",
            "G1TryInitiateConcMark",
            "G1PauseRemark",
            "G1CollectFull",
            "CollectForMetadataAllocation",
            "ShenandoahInitMark",
            "GenCollectFull",
            "ParallelGCSystemGC",
            "CGC_Operation",
        ] {
            assert!(is_collection(name), "{name}");
        }
        for name in ["ICBufferFull", "ThreadDump", "HandshakeFallback", "Cleanup", "Halt"] {
            assert!(!is_collection(name), "{name}");
        }
    }
}
