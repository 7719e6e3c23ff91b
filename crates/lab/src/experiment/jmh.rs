//! A JMH benchmark in a JVM of its own.

use super::plan::Bench;
use super::sample::Sample;
use crate::jvm::jdk::Jdk;
use crate::{Error, Result};
use std::time::Duration;

/// A JMH benchmark in a JVM of its own.
#[derive(Clone, Debug)]
pub struct Jmh {
    /// The JDK.
    pub jdk: Jdk,
    /// Flags for the measured JVM.
    pub flags: Vec<String>,
    /// The benchmark's full name: `terrace.benchmarks.Tlab.object16`.
    pub benchmark: String,
    /// JMH's own parameters, `-p name=value`.
    pub parameters: Vec<(String, String)>,
    /// Threads.
    pub threads: u32,
    /// Warm-up iterations and the length of each.
    pub warmup: (u32, Duration),
    /// Measured iterations and the length of each. Every iteration gives a value.
    pub iterations: (u32, Duration),
    /// JMH's names of results (the primary one is `""`) and how they become values of our metrics.
    pub reads: Vec<Read>,
}

/// How a result of JMH becomes a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// JMH's label of the secondary result, such as `retries`; empty for the primary one.
    pub label: String,
    /// The metric's key.
    pub metric: String,
    /// What JMH's number is multiplied by.
    pub factor: f64,
    /// 1 over JMH's number: a rate becomes a time.
    pub inverse: bool,
}

impl Jmh {
    /// Runs it once.
    pub fn run(&self, _bench: &Bench) -> Result<Sample> {
        Err(Error::failed("not there yet"))
    }
}
