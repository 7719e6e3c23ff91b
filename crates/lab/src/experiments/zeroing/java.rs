//! The cells in Java.

use super::{JAVA, UNINITIALIZED, WATCHED, ZEROED};
use crate::{Error, Result};
use experiment::jmh::{Jmh, Read};
use experiment::{Bench, Cell, Runner, Sample, parameters};
use jvm::jdk::Jdk;
use jvm::safepoints::{self, Stopped};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::Duration;

const QUICK_SIZES: [u64; 6] = [1, 100, 1000, 10_000, 100_000, 10_000_000];
const SIZES: [u64; 8] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];
/// The size that the source looks for pauses with.
const WATCHED_SIZE: u64 = 100_000;
/// About how many seconds it takes to touch the heap and to get the code compiled.
const TOUCHING: f64 = 0.6;

pub(super) fn cells(bench: &Bench) -> Vec<Cell> {
    let Some(jdk) = bench.jdks.first() else {
        return vec![Cell::without_jdk(parameters([("language", JAVA.into())]))];
    };
    let mut cells = Vec::new();
    for &bytes in bench.effort.pick(&QUICK_SIZES[..], &SIZES) {
        for method in [ZEROED, UNINITIALIZED] {
            let jmh = timed(bench, jdk, method, bytes);
            cells.push(cell(JAVA, method, bytes, &jmh, |jmh| Runner::Jmh(Box::new(jmh))));
        }
    }
    for method in [ZEROED, UNINITIALIZED] {
        let (jmh, bench) = (watched(bench, jdk, method), bench.clone());
        cells.push(cell(WATCHED, method, WATCHED_SIZE, &jmh, |jmh| {
            Runner::native(move || stopped(&jmh, &bench))
        }));
    }
    cells
}

fn cell(language: &str, method: &str, bytes: u64, jmh: &Jmh, runner: impl FnOnce(Jmh) -> Runner) -> Cell {
    Cell {
        parameters: parameters([
            ("language", language.into()),
            ("method", method.into()),
            ("bytes", bytes.into()),
            ("threads", jmh.threads.into()),
        ]),
        seconds: jmh.seconds() + TOUCHING,
        runner: runner(jmh.clone()),
    }
}

/// What the array takes in the heap: 16 bytes of header (mark, compressed class, length), and the next multiple of 8.
const fn in_heap(bytes: u64) -> u64 {
    (16 + bytes).next_multiple_of(8)
}

fn timed(bench: &Bench, jdk: &Jdk, method: &str, bytes: u64) -> Jmh {
    let threads = bench.machine.cpus as u32;
    let (warmup, iterations) = bench.effort.pick(
        ((1, Duration::from_millis(200)), (2, Duration::from_millis(100))),
        ((5, Duration::from_secs(1)), (5, Duration::from_secs(1))),
    );
    let gigabytes = f64::from(threads) * in_heap(bytes) as f64;
    Jmh {
        jdk: jdk.clone(),
        flags: flags(),
        benchmark: format!("terrace.benchmarks.Zeroing.{method}"),
        parameters: vec![("size".into(), bytes.to_string())],
        threads,
        warmup,
        iterations,
        reads: vec![Read::times("", "ns", 1.0), Read::over("", "rate", gigabytes)],
        counters: Vec::new(),
    }
}

fn flags() -> Vec<String> {
    let flags = ["-XX:+UseParallelGC", "-Xms2g", "-Xmx2g", "-Xmn1500m", "-XX:+AlwaysPreTouch"];
    flags.map(str::to_owned).into()
}

/// The same with a watcher beside it; its own times are not asked for, because it disturbs them.
fn watched(bench: &Bench, jdk: &Jdk, method: &str) -> Jmh {
    let mut jmh = timed(bench, jdk, method, WATCHED_SIZE);
    jmh.iterations = (bench.effort.pick(1, 5), Duration::from_secs(1));
    jmh.parameters.push(("watch".into(), "true".into()));
    let each = 1.0 / jmh.iterations.1.as_secs_f64();
    jmh.reads = vec![
        Read::times("pauses", "watched_count", each),
        Read::times("pausedMillis", "watched_time", each),
        Read::times("longestPauseMillis", "watched_longest", 1.0),
    ];
    jmh
}

const NOT_SEEN: &str =
    "the benchmark reported nothing of its watcher; rebuild the benchmarks with 'cargo xtask build'";

/// Runs it with a log of its safepoints, and reads that.
fn stopped(jmh: &Jmh, bench: &Bench) -> Result<Sample> {
    let failed = |error: std::io::Error| {
        Error::failed(format!("{}: {error}; free some space there", bench.scratch.display()))
    };
    let folder = tempfile::tempdir_in(&bench.scratch).map_err(failed)?;
    let mut jmh = jmh.clone();
    jmh.flags.push(format!("-Xlog:safepoint:file={}/safepoints-%p.log", folder.path().display()));
    let mut sample = jmh.run(bench)?;
    for metric in ["watched_count", "watched_time", "watched_longest"] {
        if sample.values.get(metric).is_none_or(|values| values.iter().any(|value| !value.is_finite())) {
            sample.values.remove(metric);
            sample.unavailable.entry(metric.to_owned()).or_insert_with(|| NOT_SEEN.to_owned());
        }
    }
    let span = f64::from(jmh.iterations.0) * jmh.iterations.1.as_secs_f64();
    let log = logs(folder.path()).map_err(failed)?;
    let found = safepoints::parse(&log);
    if found.is_empty() {
        let reason = "the JVM logged no safepoint; does it know -Xlog:safepoint?";
        return Ok(["safepoint_count", "safepoint_time", "safepoint_longest"]
            .into_iter()
            .fold(sample, |sample, metric| sample.lacks(metric, reason)));
    }
    let stopped = Stopped::last(span, &found);
    sample.add("safepoint_count", stopped.count as f64 / span);
    sample.add("safepoint_time", stopped.seconds * 1e3 / span);
    sample.add("safepoint_longest", stopped.longest * 1e3);
    if let Some(settings) = sample.settings.as_object_mut() {
        settings.insert("safepoints_logged".into(), json!(found.len()));
    }
    Ok(sample)
}

/// The largest log: the measured JVM's, should another one have written any.
fn logs(folder: &Path) -> std::io::Result<String> {
    let mut largest = String::new();
    for entry in fs::read_dir(folder)? {
        let text = fs::read_to_string(entry?.path())?;
        if text.len() > largest.len() {
            largest = text;
        }
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_have_a_header_and_are_padded() {
        assert_eq!([0, 1, 8, 9, 100_000].map(in_heap), [16, 24, 24, 32, 100_016]);
    }

    #[test]
    fn the_largest_log_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(logs(folder.path()).unwrap(), "");
        fs::write(folder.path().join("a.log"), "long").unwrap();
        fs::write(folder.path().join("b.log"), "s").unwrap();
        assert_eq!(logs(folder.path()).unwrap(), "long");
    }
}
