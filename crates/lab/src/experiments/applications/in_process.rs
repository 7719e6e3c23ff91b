//! Buffers on and off in windows of one JVM: what forks need hours for, where no flag is in question.

use super::{METRICS, ON_OFF, flags, place};
use crate::Result;
use compare::result::ComparisonResult;
use compare::side::Side;
use compare::stopping::Precision;
use compare::windows::SKIP;
use compare::{Comparison, Method, Program};
use experiment::compared::AROUND;
use experiment::{Bench, Cell, Runner, Sample};
use jvm::agent::AgentOptions;
use jvm::application::Application;
use jvm::jdk::{Collector, Jdk};
use present::progress::Progress;
use std::path::Path;
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
    let runner = match comparison(bench, program, collector, jdk, flag, seconds) {
        Err(error) => Runner::Unavailable(error.to_string()),
        Ok(comparison) => {
            // Each round has an order of its own.
            let round = std::cell::Cell::new(0);
            Runner::native(move || {
                round.set(round.get() + 1);
                let comparison = Comparison { seed: round.get(), ..comparison.clone() };
                Ok(sample(&comparison.run(&Progress::none())?))
            })
        }
    };
    Cell {
        parameters: place(program, collector, jdk, heap, ON_OFF),
        seconds: (program.warmup + seconds) as f64 + AROUND,
        runner,
    }
}

fn comparison(
    bench: &Bench,
    program: &Application,
    collector: Collector,
    jdk: &Jdk,
    heap: &str,
    seconds: u64,
) -> Result<Comparison> {
    let flags = flags(bench, program, collector, jdk, heap)?;
    let scratch: &Path = &bench.scratch;
    let arguments = program.arguments(jdk, &bench.install, scratch)?;
    let defaults = AgentOptions::default();
    let method = Method::Windows {
        window: Duration::from_millis(program.window),
        skip: SKIP,
        precision: bench.wanted.precision.map(Precision),
    };
    Ok(Comparison {
        program: Program::Driven { java: jdk.java(), arguments },
        sides: [Side::terrace(defaults.clone()), Side::off(defaults)],
        flags,
        method,
        warmup: Duration::from_secs(program.warmup),
        duration: Duration::from_secs(seconds),
        seed: 0,
        show: false,
        install: bench.install.clone(),
    })
}

fn sample(outcome: &ComparisonResult) -> Sample {
    let mut sample =
        Sample { processes: 1, ..Sample::default() }.with_settings(outcome.sides.a.settings.clone());
    sample.notes.clone_from(&outcome.notes);
    let latency = outcome.latency;
    for (metric, ..) in METRICS {
        let (interval, reason) = match metric {
            "speed" => (Some(outcome.ratio), ""),
            "cpu" => (outcome.ratio_cpu, "CPU time could not be read throughout"),
            "heap" => {
                let found = outcome.estimate.as_ref().and_then(|estimate| estimate.heap_use);
                (found, "the buffers handed out nothing on a side")
            }
            "p50" => (latency.and_then(|of| of.p50), FEW),
            "p99" => (latency.and_then(|of| of.p99), FEW),
            "p999" => (latency.and_then(|of| of.p999), FEW),
            _ => (None, "not told apart in one process; the forks have it"),
        };
        sample = match interval {
            Some(interval) => sample.estimate(metric, interval),
            None => sample.lacks(metric, reason),
        };
    }
    sample
}

const FEW: &str = "too few operations in windows; give more --seconds";
