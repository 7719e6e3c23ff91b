//! Counting with several threads: which instruction, where the counter is, and what claiming in batches buys.

mod claims;
mod java;
pub(crate) mod simulated;

use crate::Result;
use crate::counting::{Counted, INSTRUCTIONS, Layout, Operation, count};
use experiment::native::pin;
use experiment::native::quiet::ENOUGH;
use experiment::{
    Bench, Cell, Declaration, Effort, Experiment, Kind, Metric, Parameter, Plan, Plot, QUICK_ROUNDS,
    Reference, Runner, Sample, Source, parameters,
};
use serde_json::json;
use std::time::Duration;

pub const NAME: &str = "atomics";

const NATIVE: &str = "native";
const JAVA: &str = "java";
const PLAIN: &str = "plain add";
const LOCK_ADD: &str = "lock add";
const LOCK_XADD: &str = "lock xadd";
const COMPARE_EXCHANGE: &str = "lock cmpxchg loop";
const CLAIMED: &str = "claimed in batches";
const CANNOT_FAIL: &str = "this operation has no exchange that could fail";

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims::claims, claims::answer)
}

fn declaration() -> Declaration {
    let shared = || ("layout", Layout::Shared.name().into());
    let published = |machine: &str, threads: u32, metric: &str, value: f64| {
        let at = [
            ("language", NATIVE.into()),
            ("operation", LOCK_XADD.into()),
            shared(),
            ("threads", threads.into()),
        ];
        Reference::new(&format!("Thompson, {machine}"), metric, at, value)
    };
    // "level out respectively at ~100m and ~20m XADD operations per second for 3+ concurrent threads"
    let machines = [("Nehalem Core i7-860", 100e6), ("Sandy Bridge Core i7-2720QM", 20e6)];
    let mut references = Vec::new();
    for (machine, rate) in machines {
        for threads in [3_u32, 4] {
            references.push(published(machine, threads, "rate", rate));
            references.push(published(machine, threads, "ns", 1e9 / rate));
        }
    }
    Declaration {
        name: NAME.into(),
        title: "Counting with several threads".into(),
        question: "What does a contended atomic increment cost, and which instruction suffers least?"
            .into(),
        source: Some(Source::new(
            "Martin Thompson",
            "Adventures with AtomicLong (2011)",
            "Core i7-860 (Nehalem, 2.8 GHz) and Core i7-2720QM (Sandy Bridge, 2.2 GHz)",
        )),
        parameters: vec![
            Parameter::new("language", "Language", ""),
            Parameter::new("operation", "Operation", ""),
            Parameter::new("layout", "Counters", ""),
            Parameter::new("threads", "Threads", ""),
            Parameter::new("batch", "Batch", "numbers"),
        ],
        metrics: vec![
            Metric::lower("ns", "Time per increment", "ns")
                .is("wall time over the increments of all threads together, as in Thompson's duration over 500 million")
            .caveat(
                "More threads than CPUs are time-sliced: their figures show the cost of that, not of more contention. \
                 Java's figure is that of JMH, whose loop itself costs about 1 ns.",
            ),
            Metric::higher("rate", "Rate", "operations/s")
                .is("increments of all threads together over wall time"),
            Metric::lower("failed", "Failed exchanges per success", "")
                .is("compare-and-exchange attempts that found another value, over those that succeeded"),
            Metric::neither("share", "Share of the CPUs", "")
                .is("CPU time of the counting threads over wall time on their CPUs; 1 when nothing else ran there")
            .caveat("Where it is low, threads shared the CPUs with other programs and contended less than intended."),
        ],
        plots: vec![
            Plot::new(Kind::Lines, "One counter for all", "ns", "threads", &["language", "operation"])
                .caption("Thompson's figures: how fetch-and-add and a compare-and-set loop scale with threads.")
                .only([shared()])
                .log_y(),
            Plot::new(Kind::Bars, "Placement of the counters, two threads", "ns", "layout", &["language", "operation"])
                .caption("Counters in the same line are contended like a single one, although no thread touches another's.")
                .only([("threads", 2_u32.into())])
                .log_y(),
            Plot::new(Kind::Lines, "Failed exchanges", "failed", "threads", &["language", "operation"])
                .caption("A failed exchange acquires the line exclusively and gains nothing.")
                .only([shared()]),
            Plot::new(Kind::Lines, "Claimed in batches", "rate", "batch", &["language", "threads"])
                .caption(
                    "One lock xadd claims a batch, plain stores hand it out, as in a thread-local allocation buffer. The \
                     larger the batch, the less the counter matters.",
                )
                .only([("operation", CLAIMED.into())])
                .log_x()
                .log_y(),
        ],
        references,
        ..Declaration::default()
    }
}

/// How long a native run counts, and how often.
fn slices(effort: Effort) -> (Duration, u32) {
    effort.pick((Duration::from_millis(40), 2), (Duration::from_millis(500), 3))
}

fn plan(bench: &Bench) -> Result<Plan> {
    let mut cells = native(bench);
    match bench.jdks.first() {
        Some(jdk) => cells.extend(java::cells(bench, jdk)),
        None => cells.push(Cell::without_jdk(parameters([("language", JAVA.into())]))),
    }
    let mut notes = vec![
        "With one thread the layouts do not differ; it is measured once, as 'shared'. Plain additions by several threads \
         to one counter would lose increments, so each thread has its own counter."
            .to_owned(),
        "Threads are pinned to the CPUs round-robin. A line of 64 bytes has room for the counters of eight threads: \
         with more, false_sharing uses more lines."
            .to_owned(),
    ];
    if bench.effort == Effort::Quick {
        notes.push(
            "Quick: in Java only one counter for all, LongAdder, and a falsely shared counter with two threads; \
             --full measures every combination."
                .into(),
        );
    }
    Ok(Plan { cells, rounds: bench.effort.pick(QUICK_ROUNDS, 10), notes, ..Plan::default() })
}

fn native(bench: &Bench) -> Vec<Cell> {
    let places = pin::places();
    let (slice, repetitions) = slices(bench.effort);
    let mut cells = Vec::new();
    let mut cell = |operation: Operation, layout: Layout, threads: u32| {
        let name = match operation {
            Operation::PlainAdd => PLAIN,
            Operation::LockAdd => LOCK_ADD,
            Operation::LockXadd => LOCK_XADD,
            Operation::CompareExchange => COMPARE_EXCHANGE,
            Operation::Claimed(_) => CLAIMED,
        };
        let mut values = parameters([
            ("language", NATIVE.into()),
            ("operation", name.into()),
            ("threads", threads.into()),
        ]);
        match operation {
            // One sequence for all, but no counter that is incremented: not to be drawn among those.
            Operation::Claimed(batch) => values.insert("batch".into(), batch.into()),
            _ => values.insert("layout".into(), layout.name().into()),
        };
        let places = places.clone();
        cells.push(Cell {
            parameters: values,
            seconds: slice.as_secs_f64() * f64::from(repetitions),
            runner: Runner::native(move || measure(operation, layout, threads, &places, slice, repetitions)),
        });
    };
    for threads in bench.thread_counts() {
        for layout in Layout::ALL {
            if threads == 1 && layout != Layout::Shared {
                continue;
            }
            if threads == 1 || layout != Layout::Shared {
                cell(Operation::PlainAdd, layout, threads);
            }
            for operation in [Operation::LockAdd, Operation::LockXadd, Operation::CompareExchange] {
                cell(operation, layout, threads);
            }
        }
        let batches: &[u64] =
            bench.effort.pick(&[1, 16, 64, 256, 1024], &[1, 4, 16, 64, 256, 1024, 4096, 16384]);
        for batch in batches {
            cell(Operation::Claimed(*batch), Layout::Shared, threads);
        }
    }
    cells
}

fn measure(
    operation: Operation,
    layout: Layout,
    threads: u32,
    places: &[u32],
    slice: Duration,
    repetitions: u32,
) -> Result<Sample> {
    let cpus = pin::round_robin(places, threads);
    let mut slices: Vec<Counted> = Vec::new();
    // Threads that do not run at the same time do not contend: such a slice is replaced, as often as there are slices.
    for _ in 0..2 * repetitions {
        slices.push(count(operation, layout, &cpus, slice)?);
        if slices.iter().filter(|counted| undisturbed(counted)).count() == repetitions as usize {
            break;
        }
    }
    slices.sort_by_key(|counted| !undisturbed(counted));
    slices.truncate(repetitions as usize);
    let mut sample = Sample::default();
    for counted in &slices {
        sample.add("ns", counted.nanoseconds());
        sample.add("rate", counted.rate());
        match counted.failed() {
            Some(failed) => sample.add("failed", failed),
            None => sample = sample.lacks("failed", CANNOT_FAIL),
        }
        match counted.share {
            Some(share) => sample.add("share", share),
            None => sample = sample.lacks("share", "the kernel does not report a thread's CPU time here"),
        }
    }
    if slices.iter().any(|counted| !undisturbed(counted)) {
        sample = sample.note(
            "other programs ran on the CPUs of the counting threads, which then contend less than intended: stop them and measure again",
        );
    }
    Ok(sample.with_settings(json!({
        "instructions": INSTRUCTIONS,
        "usable_cpus": places.len(),
        "cpus": cpus,
        "slice_ms": slice.as_millis() as u64,
    })))
}

/// Whether the threads had their CPUs: otherwise they are not taken to contend.
fn undisturbed(counted: &Counted) -> bool {
    counted.share.is_none_or(|share| share >= ENOUGH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_native_cell_gives_a_value_for_each_repetition() {
        let places = pin::places();
        let slice = Duration::from_millis(1);
        let sample = measure(Operation::LockXadd, Layout::Shared, 2, &places, slice, 3).unwrap();
        assert_eq!((sample.values["ns"].len(), sample.values["rate"].len()), (3, 3));
        assert_eq!(sample.unavailable["failed"], CANNOT_FAIL);
        let sample = measure(Operation::CompareExchange, Layout::Shared, 1, &places, slice, 1).unwrap();
        assert_eq!(sample.values["failed"], [0.0]);
        assert_eq!(sample.settings["usable_cpus"], places.len());
    }
}
