//! How much of the heap was used up, from the JVM's own log of its collections.
//!
//! Collections are few, and HotSpot resizes eden between them: their number says less, and more coarsely, than what each has found in
//! use, beside what the one before had left.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// The heap at a collection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collected {
    /// When it ended, on the clock that [`crate::os::monotonic`] reads.
    pub at: Duration,
    /// Bytes in use before it.
    pub before: f64,
    /// Bytes in use after it.
    pub after: f64,
}

/// The flag that makes a JVM write the log. `path` may have `%p`, which becomes the process ID.
pub fn flag(path: &Path) -> String {
    format!("-Xlog:gc=info:file={}:tn:filecount=0", path.display())
}

/// Bytes that were used up from here to there, by what was used up between collections in that time. `None` when there are no two
/// collections, of which one is in it, or no log that can be read.
pub fn used_up(path: &Path, from: Duration, to: Duration) -> Option<f64> {
    rate(&read(path)?, from, to).map(|rate| rate * to.saturating_sub(from).as_secs_f64())
}

/// The sum over several JVMs' logs, whose names begin like this. `None` unless each JVM's is known.
pub fn used_up_by_all(directory: &Path, prefix: &str, from: Duration, to: Duration) -> Option<f64> {
    let paths = logs(directory, prefix)?;
    (!paths.is_empty()).then(|| paths.iter().map(|path| used_up(path, from, to)).sum::<Option<f64>>())?
}

/// Bytes that a whole run used up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WholeRun {
    /// The middle of what is possible.
    pub bytes: f64,
    /// What it may be off by in either direction.
    pub unknown: f64,
}

/// What JVMs that have ended used up in all their time. After the last collection of each it is anything up to an eden: a run of 2.99 edens
/// has two collections, one of 3.01 has three. An eden is taken to be the most that was used up between two collections, and that of a JVM
/// without any like the largest of the others. `None` where there were fewer than two collections in all.
pub fn used_up_in_whole_runs(directory: &Path, prefix: &str) -> Option<WholeRun> {
    let logs: Vec<Vec<Collected>> = logs(directory, prefix)?.iter().filter_map(|path| read(path)).collect();
    if logs.iter().map(Vec::len).sum::<usize>() < 2 {
        return None;
    }
    let first = |collections: &[Collected]| collections.first().map_or(0.0, |first| first.before);
    let known: f64 = logs.iter().map(|collections| first(collections) + between(collections)).sum();
    let eden = |collections: &[Collected]| gaps(collections).fold(first(collections), f64::max);
    let largest = logs.iter().map(|collections| eden(collections)).fold(0.0, f64::max);
    let edens = logs.iter().map(|log| if log.is_empty() { largest } else { eden(log) });
    let unknown = edens.sum::<f64>() / 2.0;
    Some(WholeRun { bytes: known + unknown, unknown })
}

fn logs(directory: &Path, prefix: &str) -> Option<Vec<PathBuf>> {
    let entries = std::fs::read_dir(directory).ok()?.flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    Some(named.map(|entry| entry.path()).collect())
}

fn read(path: &Path) -> Option<Vec<Collected>> {
    let bytes = std::fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).lines().filter_map(line).collect())
}

/// Bytes for each second, from the first collection to the last; where there is but one, from the one before that time on.
fn rate(collections: &[Collected], from: Duration, to: Duration) -> Option<f64> {
    let ended = collections.iter().take_while(|found| found.at <= to).count();
    let early = collections.iter().take_while(|found| found.at < from).count();
    let first = if ended - early == 1 { early.saturating_sub(1) } else { early };
    let within = &collections[first..ended];
    let used = between(within);
    let time = within.last()?.at.saturating_sub(within.first()?.at).as_secs_f64();
    (time > 0.0).then_some(used / time)
}

/// Bytes that were used up between these collections.
fn between(collections: &[Collected]) -> f64 {
    gaps(collections).sum()
}

fn gaps(collections: &[Collected]) -> impl Iterator<Item = f64> {
    collections.windows(2).map(|pair| (pair[1].before - pair[0].after).max(0.0))
}

/// `[1966204102650ns] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 24M->3M(256M) 2.345ms` (17, 21, 25). Also the collections and parts
/// of collections that run beside the program, which say in the same way what they have freed.
fn line(text: &str) -> Option<Collected> {
    let (stamp, rest) = text.strip_prefix('[')?.split_once("ns]")?;
    let at = Duration::from_nanos(stamp.trim().parse().ok()?);
    let rest = rest.trim_start().strip_prefix("GC(")?;
    let (before, after) = rest.split_whitespace().find_map(|word| word.split_once("->"))?;
    let after = after.split_once('(')?.0;
    Some(Collected { at, before: bytes(before)?, after: bytes(after)? })
}

/// `24M`.
fn bytes(text: &str) -> Option<f64> {
    let unit = match text.chars().last()? {
        'B' => 1.0,
        'K' => 1024.0,
        'M' => 1024.0 * 1024.0,
        'G' => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    text[..text.len() - 1].parse::<f64>().ok().map(|number| number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: f64 = 1024.0 * 1024.0;

    #[test]
    fn what_each_collector_writes() {
        let of = |text| line(text).map(|found| (found.at.as_nanos(), found.before / MB, found.after / MB));
        for (text, expected) in [
            ("[10ns] GC(0) Pause Young (Allocation Failure) 65M->1M(245M) 1.2ms", (10, 65.0, 1.0)),
            ("[11ns] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 24M->3M(512M) 2.3ms", (11, 24.0, 3.0)),
            ("[12ns] GC(7) Pause Remark 30M->28M(512M) 2.3ms", (12, 30.0, 28.0)),
            ("[13ns] GC(8) Pause Full (System.gc()) 900K->1G(512M) 2.3ms", (13, 900.0 / 1024.0, 1024.0)),
            ("[14ns] GC(9) Concurrent cleanup 45M->30M(64M) 0.041ms", (14, 45.0, 30.0)),
        ] {
            assert_eq!(of(text), Some(expected), "{text}");
        }
        for text in [
            "[10ns] Using G1",
            "[10ns] GC(4) Concurrent Mark Cycle 12.3ms",
            "[10ns] GC(4) Garbage Collection (Warmup) 100M(10%)->20M(2%)",
            "GC(0) Pause Young 65M->1M(245M)",
            "[10ns] GC(0) Pause Young x->y",
            "",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn only_what_lies_between_collections_of_that_time_is_counted() {
        let directory = tempfile::tempdir().unwrap();
        let log = "[1000000000ns] GC(0) Pause Young (x) 60M->10M(100M) 1ms\n\
                   [2000000000ns] GC(1) Pause Young (x) 60M->20M(100M) 1ms\n\
                   [3000000000ns] Something else\n\
                   [4000000000ns] GC(2) Pause Full (x) 80M->5M(100M) 1ms\n";
        let path = directory.path().join("heap-7");
        std::fs::write(&path, log).unwrap();
        let seconds = Duration::from_secs;
        // 50 and 60 MB in three seconds.
        assert_eq!(used_up(&path, seconds(0), seconds(6)), Some(220.0 * MB));
        assert_eq!(used_up(&path, seconds(2), seconds(4)), Some(60.0 * MB));
        assert_eq!(used_up(&path, seconds(3), seconds(6)), Some(90.0 * MB), "30 MB/s since the one before");
        assert_eq!(used_up(&path, seconds(5), seconds(9)), None, "no collection");
        assert_eq!(used_up(&path, seconds(0), seconds(1)), None, "the first");
        std::fs::write(directory.path().join("heap-8"), log).unwrap();
        std::fs::write(directory.path().join("stops-8"), "").unwrap();
        assert_eq!(used_up_by_all(directory.path(), "heap-", seconds(2), seconds(4)), Some(120.0 * MB));
        std::fs::write(directory.path().join("heap-9"), "").unwrap();
        assert_eq!(used_up_by_all(directory.path(), "heap-", seconds(2), seconds(4)), None);
        assert_eq!(used_up(&directory.path().join("none"), seconds(2), seconds(4)), None);
    }

    #[test]
    fn of_a_whole_run_each_jvm_counts_for_its_own_time() {
        let directory = tempfile::tempdir().unwrap();
        let of =
            || used_up_in_whole_runs(directory.path(), "heap-").map(|run| (run.bytes / MB, run.unknown / MB));
        let log = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        log("heap-1", "[1000000000ns] GC(0) Pause Young (x) 60M->10M(100M) 1ms\n");
        assert_eq!(of(), None, "one collection says hardly anything");
        // One that lived for a second, one for a minute, one that never collected.
        log(
            "heap-2",
            "[60000000000ns] GC(0) Pause Young (x) 30M->10M(100M) 1ms\n[61000000000ns] GC(1) Pause Young (x) 40M->10M(100M) 1ms\n",
        );
        log("heap-3", "[1ns] Using G1\n");
        log("other", "[1ns] GC(0) Pause Young (x) 1M->0M(100M) 1ms\n");
        // What each used up after its last collection is between none and 60, 30 and 60 MB.
        assert_eq!(of(), Some((60.0 + 30.0 + 30.0 + 75.0, 75.0)));
    }
}
