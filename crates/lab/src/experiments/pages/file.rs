//! A mapped file, with its pages in the page cache and not.

use super::{COLD, FILE, NATIVE, WARM};
use crate::{Error, Result};
use ::pages::{CachedFile, Faults};
use experiment::{Bench, Cell, Runner, Sample, parameters};
use serde_json::json;
use std::cell::OnceCell;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;
use tempfile::NamedTempFile;

const BYTES: usize = 256 << 20;

pub(super) fn cells(bench: &Bench) -> Vec<Cell> {
    let file: Rc<OnceCell<NamedTempFile>> = Rc::default();
    [WARM, COLD]
        .into_iter()
        .map(|cache| {
            let (file, scratch) = (Rc::clone(&file), bench.scratch.clone());
            let runner = Runner::native(move || {
                let path = match file.get() {
                    Some(file) => file.path(),
                    None => {
                        let written = write(&scratch, BYTES)?;
                        file.get_or_init(|| written).path()
                    }
                };
                measure(path, cache == COLD)
            });
            Cell {
                parameters: parameters([
                    ("language", NATIVE.into()),
                    ("pattern", FILE.into()),
                    ("pages", cache.into()),
                ]),
                seconds: 0.5,
                runner,
            }
        })
        .collect()
}

/// A file of which no block is empty, on the disk.
fn write(folder: &Path, bytes: usize) -> Result<NamedTempFile> {
    let failed = |error: std::io::Error| {
        Error::failed(format!(
            "a file of {} MB in {}: {error}; free some space there",
            bytes >> 20,
            folder.display()
        ))
    };
    let mut file = tempfile::Builder::new().prefix("pages-").tempfile_in(folder).map_err(failed)?;
    let piece = vec![1; 1 << 20];
    for _ in 0..bytes >> 20 {
        file.write_all(&piece).map_err(failed)?;
    }
    file.as_file().sync_all().map_err(failed)?;
    Ok(file)
}

fn measure(path: &Path, cold: bool) -> Result<Sample> {
    let file = CachedFile::open(path)?;
    let sample = Sample::default();
    let cached = if cold {
        file.evict()?;
        file.cached()?
    } else {
        file.walk()?;
        file.cached()?
    };
    let bytes = file.len() as u64;
    if cold && cached > bytes / 20 {
        let reason = format!(
            "{} of {} MB stayed in the page cache; the run's files must be on a disk, not in memory",
            cached >> 20,
            bytes >> 20
        );
        return Ok(["first", "minor", "major"]
            .into_iter()
            .fold(sample, |sample, metric| sample.lacks(metric, reason.clone())));
    }
    let (before, since) = (Faults::of_thread(), Instant::now());
    file.walk()?;
    let (seconds, faults) = (since.elapsed().as_secs_f64(), Faults::of_thread() - before);
    Ok(sample
        .value("first", seconds)
        .value("minor", faults.minor as f64)
        .value("major", faults.major as f64)
        .with_settings(json!({ "file_bytes": bytes, "cached_bytes_before": cached })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_file_has_no_major_faults_and_a_cold_one_says_what_it_had() {
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), 2 << 20).unwrap();
        let warm = measure(file.path(), false).unwrap();
        assert_eq!(warm.settings["cached_bytes_before"], 2 << 20);
        assert_eq!(warm.values["major"], [0.0]);
        let cold = measure(file.path(), true).unwrap();
        assert!(cold.values.contains_key("major") || cold.unavailable["major"].contains("stayed"));
    }
}
