//! Cells that compare two ways of running a workload: the JVM, the metrics, and the sample that a comparison gives.

use super::bench::Bench;
use super::declaration::{Better, Metric, Parameter};
use super::plan::{Cell, Plan, Runner};
use super::sample::Sample;
use super::value::Parameters;
use crate::{Error, Result};
use compare::forks::Schedule;
use compare::result::ComparisonResult;
use compare::side::Side;
use compare::stopping::Precision;
use compare::{Comparison, Method, Program};
use jvm::agent::{AgentOptions, Tlab};
use jvm::jdk::{Collector, Jdk};
use jvm::workload::{Parameters as WorkloadParameters, Workload};
use present::progress::Progress;
use std::time::Duration;

/// What is not counted of a window.
const SKIP: Duration = Duration::from_millis(5);
/// About how long a JVM takes to begin and to end, in seconds.
pub const AROUND: f64 = 1.5;

#[derive(Clone)]
pub struct Case {
    pub workload: Workload,
    pub parameters: WorkloadParameters,
    pub jdk: Jdk,
    pub collector: Collector,
    /// Further flags on both sides.
    pub flags: &'static [&'static str],
    pub tlab: Tlab,
    /// Seconds before a JVM is measured.
    pub warmup: u64,
}

impl Case {
    /// The JVM's flags; an error where this JDK cannot run it.
    pub fn flags(&self) -> Result<Vec<String>> {
        if self.workload == Workload::Javac && !self.jdk.has_compiler {
            let feature = self.jdk.feature;
            return Err(Error::failed(format!("JDK {feature} has no compiler; name a full one with --java")));
        }
        let mut flags = self.jdk.select(self.collector)?;
        flags.extend(self.flags.iter().map(|flag| (*flag).to_owned()));
        Ok(flags)
    }

    pub fn agent(&self) -> AgentOptions {
        AgentOptions { tlab: self.tlab, ..AgentOptions::default() }
    }

    /// Windows in one JVM, side a against side b, for so many seconds at most.
    pub fn windows(
        self,
        bench: &Bench,
        at: Parameters,
        sides: [Side; 2],
        window: u64,
        seconds: u64,
        precision: Option<f64>,
    ) -> Cell {
        let seconds = bench.wanted.seconds.unwrap_or(seconds);
        let precision = bench.wanted.precision.or(precision).map(Precision);
        let window = Duration::from_millis(window);
        let length = (bench.warmup(self.warmup) + seconds) as f64 + AROUND;
        self.cell(bench, at, sides, Method::Windows { window, skip: SKIP, precision }, seconds, length)
    }

    /// Pairs of whole JVMs, one after the other, side a against side b.
    pub fn forks(self, bench: &Bench, at: Parameters, sides: [Side; 2], fork: u64, pairs: u64) -> Cell {
        let fork = bench.wanted.seconds.unwrap_or(fork);
        let length = 2.0 * pairs as f64 * ((bench.warmup(self.warmup) + fork) as f64 + AROUND);
        // What they show first is work per second; of JVMs that share the CPUs only work per CPU-second can be trusted.
        let method = Method::Forks { fork: Duration::from_secs(fork), schedule: Schedule::Interleaved };
        self.cell(bench, at, sides, method, 2 * fork * pairs, length)
    }

    fn cell(
        self,
        bench: &Bench,
        parameters: Parameters,
        sides: [Side; 2],
        method: Method,
        measured: u64,
        seconds: f64,
    ) -> Cell {
        let comparison = self.flags().map(|flags| Comparison {
            program: Program::Workload(self.workload, self.parameters, self.jdk),
            sides,
            flags,
            method,
            warmup: Duration::from_secs(bench.warmup(self.warmup)),
            duration: Duration::from_secs(measured),
            seed: 0,
            show: false,
            install: bench.install.clone(),
        });
        cell(parameters, seconds, comparison, sample)
    }
}

/// A cell of about so many seconds that makes this comparison in each round, in an order of its own; the error is why there is none.
pub fn cell(
    parameters: Parameters,
    seconds: f64,
    comparison: Result<Comparison>,
    sample: fn(&ComparisonResult) -> Sample,
) -> Cell {
    let runner = match comparison {
        Err(error) => Runner::Unavailable(error.to_string()),
        Ok(comparison) => Runner::native(move || {
            let comparison = Comparison { seed: compare::another_seed(), ..comparison.clone() };
            Ok(sample(&comparison.run(&Progress::none())?))
        }),
    };
    Cell { parameters, seconds, runner }
}

/// The plan of these cells; without a JDK the one cell that says so.
pub fn plan(bench: &Bench, rounds: usize, mut cells: Vec<Cell>) -> Plan {
    if bench.jdks.is_empty() {
        cells = vec![Cell::without_jdk(Parameters::new())];
    }
    Plan { cells, rounds, ..Plan::default() }
}

/// What comparisons measure: key, name, unit, better, definition.
const METRICS: [(&str, &str, &str, Better, &str); 8] = [
    ("speed", "per second", "ratio", Better::Higher, "work per second, pauses charged evenly, a over b"),
    (
        "cpu",
        "per CPU-second",
        "ratio",
        Better::Higher,
        "work per second of CPU time, a over b; in one JVM only that of the application's own threads",
    ),
    ("heap", "heap used up", "ratio", Better::Lower, "heap used up for the same work, a over b"),
    ("untrimmed", "untrimmed", "ratio", Better::Higher, "all work over all time, nothing left out, a over b"),
    (
        "pairs",
        "pairs",
        "",
        Better::Neither,
        "pairs of windows, or of JVMs, from which the ratios are computed",
    ),
    ("collections_ratio", "collections", "ratio", Better::Lower, "collections for the same work, a over b"),
    ("collections_a", "collections of a", "", Better::Neither, "collections in the measured time of a"),
    ("collections_b", "collections of b", "", Better::Neither, "collections in the measured time of b"),
];

/// The parameters with these keys, which are words of their own.
pub fn varying(keys: &[&str]) -> Vec<Parameter> {
    let parameter = |key: &&str| match *key {
        "jdk" => Parameter::new(key, "JDK", ""),
        _ => Parameter::new(key, key, ""),
    };
    keys.iter().map(parameter).collect()
}

pub fn metrics(keys: &[&str]) -> Vec<Metric> {
    let found = |key: &&str| METRICS.into_iter().find(|(own, ..)| own == key);
    let metric = |(key, name, unit, better, text)| Metric::new(key, name, unit, better, text);
    keys.iter().filter_map(found).map(metric).collect()
}

/// Counts of two sides, of each its rate and its work, as they are summed over rounds: each times the other's share of the work of both (Mantel and
/// Haenszel's), the most precise where the ratio is near 1. A short round weighs little.
fn counts([rate_a, work_a]: [f64; 2], [rate_b, work_b]: [f64; 2]) -> [f64; 2] {
    let weight = work_a * work_b / (work_a + work_b);
    [rate_a * weight, rate_b * weight]
}

/// The values of [`metrics`] that a comparison has given.
pub fn sample(outcome: &ComparisonResult) -> Sample {
    let [a, b] = [&outcome.sides.a, &outcome.sides.b];
    let mut sample = Sample::default().with_settings(a.settings.clone());
    sample.notes.clone_from(&outcome.notes);
    sample.add("pairs", outcome.pairs as f64);
    match &outcome.estimate {
        Some(estimate) => {
            sample.processes = 1;
            sample = sample.estimate("speed", outcome.ratio).estimate("untrimmed", estimate.all_windows);
        }
        // Each pair is of two JVMs: all pairs of all runs are alike.
        None => {
            sample.processes = 2 * outcome.pairs;
            sample.values.insert("speed".into(), outcome.ratios.clone());
            sample = sample.lacks("untrimmed", "measured only in windows of one JVM");
        }
    }
    sample = match outcome.heap_use {
        Some(heap) => sample.estimate("heap", heap),
        None => {
            sample.lacks("heap", "the JVM's log has too few collections, or the buffers were not counted")
        }
    };
    sample = match outcome.ratio_cpu {
        Some(ratio) => sample.estimate("cpu", ratio),
        None => sample.lacks("cpu", "CPU time could not be read throughout"),
    };
    let collections = |side: &compare::result::Side| Some([side.collections_rate?, side.work?]);
    if let Some((a, b)) = collections(a).zip(collections(b)) {
        let [a, b] = counts(a, b);
        sample = sample.total("collections_ratio", a, b);
    }
    let count = |side: Option<u64>| side.map(|count| count as f64);
    for (metric, value) in [
        ("collections_ratio", outcome.collections_ratio),
        ("collections_a", count(a.collections)),
        ("collections_b", count(b.collections)),
    ] {
        sample = match value {
            Some(value) => sample.value(metric, value),
            None => sample.lacks(metric, "the collections of one side are not known, or there were none"),
        };
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten collections in 30 million operations and 40 in 20 million.
    #[test]
    fn rounds_are_summed_by_their_counts() {
        let long = counts([10.0 / 30.0, 30.0], [40.0 / 20.0, 20.0]);
        assert_eq!(long.map(|count| (count * 1e9).round() / 1e9), [4.0, 24.0]);
        // A round a tenth as long, with the same rates, weighs a tenth.
        let short = counts([10.0 / 30.0, 3.0], [40.0 / 20.0, 2.0]);
        assert!((short[1] / long[1] - 0.1).abs() < 1e-9, "{short:?}");
    }
}
