//! Cells in Java: the benchmark `Tensor` in a heap on pages of a kind.

use super::kind::{self, Need, of_jvm};
use super::tensor::Pattern;
use super::{BEFORE, JAVA, WHEN_USED};
use crate::Result;
use ::pages::{PageSize, Policy};
use experiment::jmh::{Jmh, Read};
use experiment::machine::counters;
use experiment::{Bench, Cell, Effort, Runner, Sample, parameters};
use jvm::jdk::Jdk;
use jvm::resident::{Observer, Seen};
use serde_json::json;
use std::time::Duration;

/// The benchmark's methods; there is none that reads in order.
const METHODS: [(Pattern, &str); 2] = [(Pattern::Random, "access"), (Pattern::Stride, "walk")];
/// Metric and event.
const COUNTED: [(&str, &str); 2] = [("dtlb", "dTLB-load-misses"), ("itlb", "iTLB-load-misses")];

pub(super) fn cells(bench: &Bench, megabytes: u64) -> Vec<Cell> {
    let Some(jdk) = bench.jdks.first() else {
        let place = parameters([("language", JAVA.into()), ("megabytes", megabytes.into())]);
        return vec![Cell::without_jdk(place)];
    };
    // Asked once: perf is started for it.
    let missing = COUNTED.map(|(_, event)| counters::event(event).reason().map(str::to_owned));
    let mut cells = Vec::new();
    for policy in Policy::ALL {
        for touched in [BEFORE, WHEN_USED] {
            for (pattern, method) in METHODS {
                if touched == WHEN_USED && pattern != Pattern::Random && bench.effort == Effort::Quick {
                    continue;
                }
                let mut jmh = jmh(bench, jdk, method, megabytes, policy, touched == BEFORE);
                for ((metric, event), missing) in COUNTED.into_iter().zip(&missing) {
                    if missing.is_none() {
                        jmh.counters.push(event.into());
                        jmh.reads.push(Read::times(event, metric, 1.0));
                    }
                }
                let need = Need::new(bench, policy, of_jvm(policy, heap_bytes(megabytes)));
                let seconds = jmh.seconds() + heap_bytes(megabytes) as f64 / 3e9;
                let (bench, missing) = (bench.clone(), missing.clone());
                cells.push(Cell {
                    parameters: parameters([
                        ("language", JAVA.into()),
                        ("pattern", pattern.name().into()),
                        ("pages", kind::name(policy).into()),
                        ("touched", touched.into()),
                        ("megabytes", megabytes.into()),
                    ]),
                    seconds,
                    runner: need.runner(|| Runner::native(move || measure(&jmh, need, &missing, &bench))),
                });
            }
        }
    }
    cells
}

/// The old generation has room for the tensor, and the heap is a multiple of 1 GB so that the largest pages fit.
fn heap_bytes(megabytes: u64) -> usize {
    ((megabytes as usize + 512) << 20).next_multiple_of(1 << 30).max(2 << 30)
}

fn jmh(bench: &Bench, jdk: &Jdk, method: &str, megabytes: u64, policy: Policy, touch: bool) -> Jmh {
    let heap = heap_bytes(megabytes) >> 20;
    let mut flags = vec![
        "-XX:+UseParallelGC".to_owned(),
        format!("-Xms{heap}m"),
        format!("-Xmx{heap}m"),
        "-Xmn256m".to_owned(),
        format!("-XX:{}AlwaysPreTouch", if touch { '+' } else { '-' }),
    ];
    let kind: &[&str] = match policy {
        Policy::Small => &["-XX:-UseLargePages", "-XX:-UseTransparentHugePages"],
        Policy::Transparent => &["-XX:+UseTransparentHugePages"],
        Policy::Explicit(PageSize::TwoMegabytes) => &["-XX:+UseLargePages", "-XX:LargePageSizeInBytes=2m"],
        Policy::Explicit(PageSize::OneGigabyte) => &["-XX:+UseLargePages", "-XX:LargePageSizeInBytes=1g"],
    };
    flags.extend(kind.iter().map(|flag| (*flag).to_owned()));
    let (warmup, iterations) = bench.effort.pick(
        ((2, Duration::from_millis(150)), (2, Duration::from_millis(150))),
        ((5, Duration::from_secs(1)), (5, Duration::from_secs(1))),
    );
    Jmh {
        jdk: jdk.clone(),
        flags,
        benchmark: format!("terrace.benchmarks.Tensor.{method}"),
        parameters: vec![("megabytes".into(), megabytes.to_string())],
        threads: 1,
        warmup,
        iterations,
        reads: vec![Read::times("", "ns", 1.0)],
        counters: Vec::new(),
    }
}

fn measure(jmh: &Jmh, need: Need, missing: &[Option<String>; 2], bench: &Bench) -> Result<Sample> {
    let _pool = need.fill()?;
    let observer = Observer::start();
    let run = jmh.run(bench);
    let seen = observer.finish();
    let mut sample = run?;
    for ((metric, _), reason) in COUNTED.into_iter().zip(missing) {
        if let Some(reason) = reason {
            sample = sample.lacks(metric, reason.clone());
        }
    }
    let Some(Seen { obtained, faults }) = seen else {
        let reason = "the JVM ended before it was sampled; let it run longer (--full)";
        return Ok(["huge", "process_minor", "process_major"]
            .into_iter()
            .fold(sample, |sample, metric| sample.lacks(metric, reason)));
    };
    sample.add("process_minor", faults.minor as f64);
    sample.add("process_major", faults.major as f64);
    sample.add("huge", obtained.huge() as f64 / 1e6);
    let heap = heap_bytes(0) as u64;
    let note = match need.policy {
        Policy::Small if obtained.huge() > heap / 10 => Some(
            "the heap is on huge pages although none were requested; as root: echo madvise > \
             /sys/kernel/mm/transparent_hugepage/enabled",
        ),
        Policy::Small => None,
        _ if obtained.huge() < obtained.resident() / 2 => Some(
            "less than half of the JVM's memory is on huge pages; free memory, or fill the pool before the run",
        ),
        _ => None,
    };
    if let Some(note) = note {
        sample = sample.note(format!("{note} ({obtained})"));
    }
    if let Some(settings) = sample.settings.as_object_mut() {
        settings.insert("obtained".into(), json!(obtained.to_string()));
    }
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heaps_hold_the_tensor_and_whole_gigabytes() {
        assert_eq!([64, 512, 1024, 2048].map(|megabytes| heap_bytes(megabytes) >> 30), [2, 2, 2, 3]);
    }
}
