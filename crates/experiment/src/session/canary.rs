//! The same short measurements, repeated through a run: what they show is the machine, not an experiment.

use crate::Result;
use crate::native::time;
use crate::results;
use crate::session::store::Store;
use statistics::{bootstrap, median, scatter};
use std::hint::black_box;
use std::time::Duration;

/// At most so often, in seconds of the run.
const EVERY: f64 = 3.0;
const LENGTH: Duration = Duration::from_millis(8);
/// Larger than a core's own caches, so that neighbours in a shared cache are heard.
const BYTES: usize = 8 << 20;

/// Their names, in order, with units.
const NAMES: [(&str, &str); 2] =
    [("steps of a dependent multiplication", "ns"), ("lines read of 8 MB", "ns")];

pub struct Canaries {
    heard: Vec<(String, f64, f64)>,
    next: f64,
    memory: Vec<u64>,
}

impl Canaries {
    /// With what an earlier part of the run has heard; `now` is the second of the run.
    pub fn resume(heard: &[(String, f64, f64)], now: f64) -> Canaries {
        Canaries { heard: heard.to_vec(), next: now, memory: vec![1; BYTES / 8] }
    }

    /// Measures if it is time to; `now` is the second of the run.
    pub fn sing(&mut self, now: f64, store: &mut Store) -> Result<()> {
        if now < self.next {
            return Ok(());
        }
        self.next = now + EVERY;
        for ((name, _), value) in NAMES.iter().zip([steps(), lines(&self.memory)]) {
            store.keep_canary(name, now, value)?;
            self.heard.push(((*name).to_owned(), now, value));
        }
        Ok(())
    }

    pub fn results(&self) -> Vec<results::Canary> {
        NAMES.iter().map(|(name, unit)| told(name, unit, &self.heard)).collect()
    }
}

fn told(name: &str, unit: &str, heard: &[(String, f64, f64)]) -> results::Canary {
    let mine = || heard.iter().filter(|(of, _, _)| of == name);
    let values: Vec<f64> = mine().map(|(_, _, value)| *value).collect();
    let quarter = values.len().div_ceil(4);
    let first = median(&values[..quarter]);
    let last = median(&values[values.len() - quarter..]);
    results::Canary {
        name: name.to_owned(),
        unit: unit.to_owned(),
        at: mine().map(|(_, at, _)| *at).collect(),
        interval: bootstrap(&values, 1),
        scatter: scatter(&values),
        drift: last
            .zip(first)
            .filter(|(_, first)| *first > 0.0 && values.len() >= 8)
            .map(|(last, first)| last / first),
        values,
    }
}

/// ns for each step, each of which waits for the one before: the core's speed.
fn steps() -> f64 {
    let mut state = 1_u64;
    let seconds = time::each(LENGTH, 10_000, |count| {
        for _ in 0..count {
            state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    });
    seconds * 1e9
}

/// ns for each line of a memory that only a shared cache holds.
fn lines(memory: &[u64]) -> f64 {
    let mut sum = 0_u64;
    let mut at = 0;
    let seconds = time::each(LENGTH, 10_000, |count| {
        for _ in 0..count {
            sum = sum.wrapping_add(memory[at]);
            at += 8;
            if at >= memory.len() {
                at = 0;
            }
        }
    });
    black_box(sum);
    seconds * 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_the_last_quarter_over_the_first() {
        let heard: Vec<_> =
            (0..16).map(|i| ("x".to_owned(), f64::from(i), if i < 8 { 1.0 } else { 1.5 })).collect();
        let canary = told("x", "ns", &heard);
        assert_eq!((canary.drift, canary.values.len()), (Some(1.5), 16));
        assert_eq!(told("x", "ns", &heard[..3]).drift, None);
        assert_eq!(told("y", "ns", &heard).interval, None);
    }

    #[test]
    fn both_are_measured() {
        assert!(steps() > 0.0 && lines(&[1; 4096]) > 0.0);
    }
}
