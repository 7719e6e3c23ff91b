//! The same in Java, by JMH.

use super::{CLAIMED, JAVA};
use crate::counting::Layout;
use experiment::jmh::{Jmh, Read};
use experiment::{Bench, Cell, Effort, Runner, Sample, Value, parameters};
use jvm::jdk::Jdk;
use std::time::Duration;

const INCREMENT_AND_GET: &str = "incrementAndGet";
const COMPARE_AND_SET: &str = "compareAndSet loop";
const LONG_ADDER: &str = "LongAdder";

/// The benchmarks of `terrace.benchmarks.Atomics`.
pub(super) fn cells(bench: &Bench, jdk: &Jdk) -> Vec<Cell> {
    let quick = bench.effort == Effort::Quick;
    let counts: Vec<u32> =
        bench.thread_counts().into_iter().filter(|threads| !quick || [1, 2, 4].contains(threads)).collect();
    let mut cells = Vec::new();
    for &threads in &counts {
        for layout in Layout::ALL {
            for operation in [INCREMENT_AND_GET, COMPARE_AND_SET] {
                let falsely =
                    layout == Layout::FalseSharing && operation == INCREMENT_AND_GET && threads == 2;
                let wanted = if quick { falsely } else { threads > 1 };
                if layout == Layout::Shared || wanted {
                    cells.push(cell(bench, jdk, operation, Some(layout), threads, None));
                }
            }
        }
        if !quick || threads == 2 {
            cells.push(cell(bench, jdk, LONG_ADDER, None, threads, None));
        }
        for batch in [1_u64, 16, 256, 4096].into_iter().filter(|_| !quick) {
            cells.push(cell(bench, jdk, CLAIMED, None, threads, Some(batch)));
        }
    }
    cells
}

/// A benchmark of `terrace.benchmarks.Atomics`. The adder has no layout of its own: it stands among the shared ones.
fn cell(
    bench: &Bench,
    jdk: &Jdk,
    operation: &'static str,
    layout: Option<Layout>,
    threads: u32,
    batch: Option<u64>,
) -> Cell {
    let mut values =
        parameters([("language", JAVA.into()), ("operation", operation.into()), ("threads", threads.into())]);
    let mut asked = Vec::new();
    if let Some(batch) = batch {
        values.insert("batch".into(), batch.into());
        asked.push(("batch".to_owned(), batch.to_string()));
    } else {
        values.insert("layout".into(), Value::from(layout.unwrap_or(Layout::Shared).name()));
    }
    asked.extend(layout.map(|layout| ("layout".to_owned(), layout.name().to_owned())));
    let mut reads = vec![Read::times("", "rate", 1.0), Read::over("", "ns", 1e9)];
    let method = match operation {
        INCREMENT_AND_GET => "incrementAndGet",
        COMPARE_AND_SET => "compareAndSet",
        LONG_ADDER => "longAdder",
        _ => "claimed",
    };
    if operation == COMPARE_AND_SET {
        reads.push(Read::times("retries", "failed", 1.0));
    }
    let (warmup, iterations) = bench.effort.pick(
        ((2, Duration::from_millis(150)), (2, Duration::from_millis(150))),
        ((5, Duration::from_secs(1)), (5, Duration::from_secs(1))),
    );
    let jmh = Jmh {
        jdk: jdk.clone(),
        flags: Vec::new(),
        benchmark: format!("terrace.benchmarks.Atomics.{method}"),
        parameters: asked,
        threads,
        warmup,
        iterations,
        reads,
        counters: Vec::new(),
    };
    let seconds = jmh.seconds();
    // JMH's threads go where the kernel puts them, and it does not tell their CPU time: no share.
    let runner = if operation == COMPARE_AND_SET {
        let bench = bench.clone();
        Runner::native(move || jmh.run(&bench).map(for_each_success))
    } else {
        Runner::Jmh(Box::new(jmh))
    };
    Cell { parameters: values, seconds, runner }
}

/// JMH gives the failed exchanges as a rate; over the rate of the operations they are the failures for each success.
fn for_each_success(mut sample: Sample) -> Sample {
    let rates = sample.values.get("rate").cloned().unwrap_or_default();
    if let Some(failed) = sample.values.get_mut("failed") {
        failed.truncate(rates.len());
        failed.iter_mut().zip(rates).for_each(|(failed, rate)| *failed /= rate);
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_for_each_success() {
        let mut sample = Sample::default();
        for (rate, failed) in [(100.0, 50.0), (200.0, 20.0)] {
            sample.add("rate", rate);
            sample.add("failed", failed);
        }
        assert_eq!(for_each_success(sample).values["failed"], [0.5, 0.1]);
    }
}
