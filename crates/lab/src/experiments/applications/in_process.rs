//! Buffers on and off in windows of one JVM: what forks need hours for, where no flag is in question.

use super::{METRICS, ON_OFF, flags, place};
use crate::Result;
use compare::result::ComparisonResult;
use compare::side::Side;
use compare::stopping::Precision;
use compare::windows::SKIP;
use compare::{Comparison, Method, Program};
use experiment::compared::{self, AROUND};
use experiment::{Bench, Cell, Sample};
use jvm::agent::AgentOptions;
use jvm::application::Application;
use jvm::jdk::{Collector, Jdk};
use std::time::Duration;

/// Seconds that are measured in a JVM.
const SECONDS: u64 = 20;

pub(super) fn cell(
    bench: &Bench,
    program: &'static Application,
    collector: Collector,
    jdk: &Jdk,
    (heap, flag): (&str, &str),
) -> Cell {
    let seconds = bench.wanted.seconds.unwrap_or(SECONDS);
    let defaults = AgentOptions::default();
    let sides = [Side::terrace(defaults.clone()), Side::off(defaults)];
    let precision = bench.wanted.precision.map(Precision);
    let comparison = flags(bench, program, collector, jdk, flag)
        .and_then(|flags| windows(bench, program, jdk, flags, sides, (seconds, precision)));
    let length = (bench.warmup(program.warmup) + seconds) as f64 + AROUND;
    compared::cell(place(program, collector, jdk, heap, ON_OFF), length, comparison, sample)
}

/// Two sides in windows of one JVM that runs this program, for so many seconds at most; it ends before at this precision.
pub fn windows(
    bench: &Bench,
    program: &Application,
    jdk: &Jdk,
    flags: Vec<String>,
    sides: [Side; 2],
    (seconds, precision): (u64, Option<Precision>),
) -> Result<Comparison> {
    let arguments = program.arguments(jdk, &bench.install, &bench.scratch)?;
    Ok(Comparison {
        program: Program::Driven { java: jdk.java(), arguments, records_calls: program.records_calls() },
        sides,
        flags,
        method: Method::Windows { window: Duration::from_millis(program.window), skip: SKIP, precision },
        warmup: Duration::from_secs(bench.warmup(program.warmup)),
        duration: Duration::from_secs(seconds),
        seed: 0,
        show: false,
        install: bench.install.clone(),
    })
}

fn sample(outcome: &ComparisonResult) -> Sample {
    let mut settings = outcome.sides.a.settings.clone();
    if let (Some(fields), Some(report)) = (settings.as_object_mut(), &outcome.report) {
        fields.insert("measured".into(), report.clone());
    }
    let mut sample = Sample { processes: 1, ..Sample::default() }.with_settings(settings);
    sample.notes.clone_from(&outcome.notes);
    let latency = outcome.latency;
    for (metric, ..) in METRICS {
        let (interval, reason) = match metric {
            "speed" => (Some(outcome.ratio), ""),
            "cpu" => (outcome.ratio_cpu, "CPU time could not be read throughout"),
            "heap" => (outcome.heap_use, "the buffers handed out nothing on one side"),
            "p50" => (latency.and_then(|of| of.p50), FEW),
            "p99" => (latency.and_then(|of| of.p99), FEW),
            "p999" => (latency.and_then(|of| of.p999), FEW),
            "rate_b" if outcome.unit == "operations/s" => (Some(outcome.sides.b.throughput), ""),
            "rate_b" => (None, "bytes allocated were compared, because operations are long"),
            _ => (None, "not separable in one process; measured in separate JVMs (forks)"),
        };
        sample = match interval {
            Some(interval) => sample.estimate(metric, interval),
            None => sample.lacks(metric, reason),
        };
    }
    sample
}

const FEW: &str = "too few operations take longer in each group of windows (increase --seconds), or it is longer than half a window";
