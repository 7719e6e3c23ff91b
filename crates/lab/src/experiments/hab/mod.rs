//! `hab`: Kirsch, Payer and Röck's Figures 2 and 3 and Tables I and II, on this machine.
//!
//! In every JVM the buffers are on and off in turn, so that the speed-up over the same TLAB size (Figure 2) comes from
//! neighbouring windows of one process. The speed-up over HotSpot's growing strategy (Figure 3) sets the rate with buffers against
//! the rate of the JVM with growing TLABs, buffers off; those are different processes.

mod claims;
mod published;
pub(super) mod simulated;

use crate::{Error, Result};
use compare::result::ComparisonResult;
use compare::side::Side;
use compare::stopping::Precision;
use compare::{Comparison, Method, Program};
use experiment::measured::MeasuredCell;
use experiment::{
    Bench, Declaration, Experiment, Kind, Metric, Parameter, Plan, Plot, Quantity, Sample, Source, compared,
    parameters,
};
use jvm::agent::{AgentOptions, BufferSize, Levels, Tlab};
use jvm::counts::Requests;
use jvm::jdk::{Collector, Jdk};
use jvm::size;
use jvm::workload::{Parameters as WorkloadParameters, Workload};
use statistics::Interval;
use std::time::Duration;

/// HotSpot's own strategy, as the paper calls it.
pub(crate) const GROWING: &str = "growing";
/// Fewer requests that buffers served than this are none.
const FEWEST_SERVED: u64 = 1000;
/// The paper's young generation in bytes.
pub(crate) const PAPER_YOUNG: u64 = 10 << 30;

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims::claims, claims::answer).derive(over_growing)
}

fn declaration() -> Declaration {
    let lines = |title: &str, metric: &str| Plot::new(Kind::Lines, title, metric, "tlab", &["level", "size"]);
    Declaration {
        name: "hab".into(),
        title: "Buffers between TLAB and heap".into(),
        question:
            "Does a small fixed TLAB with core or processor buffers do as well as HotSpot's growing TLABs?"
                .into(),
        source: Some(Source::new(
            "Kirsch, Payer, Röck",
            "Hierarchical PLABs, CLABs, TLABs in Hotspot (ICONS 2012)",
            "4 x Xeon E7 (10 cores, 2 threads each), 128 GB, 80 threads, 30 GB heap with 10 GB young generation",
        )),
        parameters: vec![
            Parameter::new("threads", "threads", ""),
            Parameter::new("tlab", "TLAB", ""),
            Parameter::new("level", "buffers", ""),
            Parameter::new("size", "size for a young generation of 10 GB", ""),
        ],
        metrics: metrics(),
        plots: vec![
            lines("Speed-up over the same TLAB size without buffers (Figure 2)", "speedup")
                .panels(&["threads"])
                .caption(
                    "Above 1 the buffers help. The smaller the TLAB, the more often a thread refills from \
                     them.",
                ),
            lines("Speed-up over growing TLABs without buffers (Figure 3)", "over_growing")
                .panels(&["threads"])
                .caption("At 1, a fixed TLAB with buffers does as well as HotSpot's strategy."),
            Plot::new(
                Kind::Heat,
                "Foreign allocations (Tables I and II)",
                "foreign",
                "tlab",
                &["level", "size"],
            )
            .panels(&["threads"])
            .caption("Requests not served by the buffer of the domain in which the thread ran."),
        ],
        references: published::foreign(),
        ..Declaration::default()
    }
}

fn metrics() -> Vec<Metric> {
    vec![
        Metric::higher("speedup", "speed-up, same TLAB", "ratio")
            .is("bytes of class files that javac writes per second, with buffers over without, in adjacent windows of \
                 one JVM"),
        Metric::higher("over_growing", "speed-up over growing", "ratio")
            .is("bytes of class files per second with buffers over those of the JVM with growing TLABs, in its windows \
                 without buffers")
        .caveat("Two processes: their memory layout and JIT compilation differ, too.")
        // One after the other, not in turns.
        .drifts(),
        Metric::higher("rate", "with buffers", "bytes/s")
            .is("bytes of class files that javac writes per second in windows with buffers"),
        Metric::higher("rate_off", "without buffers", "bytes/s")
            .is("bytes of class files that javac writes per second in windows without buffers, TLAB size as given"),
        Metric::lower("foreign", "foreign allocations", "%")
            .is("requests served by the buffer of a domain that the thread had left, or by the tail of another domain's \
                 buffer, over all requests that buffers served"),
        Metric::lower("collections", "collections with buffers", "per MB of class files")
            .is("collections in windows with buffers over bytes of class files written in them"),
        Metric::lower("collections_off", "collections without", "per MB of class files")
            .is("collections in windows without buffers over bytes of class files written in them")
        .caveat("A collection counts for the window in which it happens, whichever window filled the heap; only the sum is exact."),
        Metric::lower("waste_refill", "waste at refills", "%")
            .is("bytes of tails given up when a buffer was refilled over bytes handed out"),
        Metric::lower("waste_collection", "waste at collections", "%")
            .is("bytes of tails given up for a collection over bytes handed out"),
        Metric::lower("reserved", "bytes reserved", "per byte handed out")
            .is("bytes that buffers, and requests that bypassed them, took from the heap, over bytes handed out to threads"),
    ]
}

/// A level and its size in the paper's heap.
type Buffers = (&'static str, u64);

fn grid(bench: &Bench) -> (Vec<Option<u64>>, Vec<Buffers>) {
    let kilobytes = |sizes: &[u64]| sizes.iter().map(|size| Some(size << 10)).chain([None]).collect();
    bench.effort.pick(
        (kilobytes(&[1, 4, 64]), vec![("core", 8 << 20), ("processor", 32 << 20)]),
        (
            kilobytes(&[1, 4, 16, 64, 128, 512]),
            vec![
                ("processor", 8 << 20),
                ("processor", 32 << 20),
                ("processor", 64 << 20),
                ("processor", 128 << 20),
                ("core", 512 << 10),
                ("core", 1 << 20),
                ("core", 8 << 20),
                ("core", 16 << 20),
            ],
        ),
    )
}

/// The least power of two, 64 at most, by which the paper's heap must be divided so that an eighth of memory holds the young
/// generation: the whole heap, which is resident, is three times as large.
const fn scale(least: u64, memory: u64) -> u64 {
    let mut scale = least;
    while scale < 64 && PAPER_YOUNG / scale > memory / 8 {
        scale *= 2;
    }
    scale
}

fn plan(bench: &Bench) -> Result<Plan> {
    let (tlabs, buffers) = grid(bench);
    let scale = scale(bench.effort.pick(16, 1), bench.memory_bytes());
    let cpus = bench.machine.cpus as u32;
    let threads = bench.effort.pick(vec![cpus], vec![cpus, 4 * cpus]);
    let mut plan = Plan { rounds: bench.effort.pick(1, 5), ..Plan::default() };
    plan.notes.push(format!(
        "the paper's young generation of 10 GB is {} here, and the buffers are smaller by the same factor of {scale}: 8m stands \
         for {}",
        size::format(PAPER_YOUNG / scale),
        size::format((8 << 20) / scale)
    ));
    let jdk = bench.jdks.iter().find(|jdk| jdk.has_compiler);
    for threads in threads {
        for (level, paper) in &buffers {
            for tlab in &tlabs {
                let parameters = parameters([
                    ("threads", threads.into()),
                    ("tlab", tlab.map_or(GROWING.into(), size::format).into()),
                    ("level", (*level).into()),
                    ("size", size::format(*paper).into()),
                ]);
                let windows = bench.wanted.seconds.unwrap_or_else(|| bench.effort.pick(9, 45));
                let windows = Duration::from_secs(windows);
                let warmup = Duration::from_secs(bench.warmup(bench.effort.pick(5, 20)));
                let comparison = match jdk {
                    None => Err(Error::failed("no JDK with a compiler; name a full JDK with --java")),
                    Some(jdk) => {
                        let buffers = (*level, paper / scale);
                        comparison(bench, jdk, threads, *tlab, buffers, scale, windows, warmup)
                    }
                };
                let seconds = (windows + warmup).as_secs_f64() + 1.5;
                plan.cells.push(compared::cell(parameters, seconds, comparison, sample));
            }
        }
    }
    Ok(plan)
}

fn method(bench: &Bench) -> Method {
    Method::Windows {
        window: Duration::from_millis(300),
        skip: Duration::from_millis(5),
        precision: bench.wanted.precision.map(Precision),
    }
}

#[allow(clippy::too_many_arguments, reason = "they are what varies")]
fn comparison(
    bench: &Bench,
    jdk: &Jdk,
    threads: u32,
    tlab: Option<u64>,
    (level, bytes): (&str, u64),
    scale: u64,
    duration: Duration,
    warmup: Duration,
) -> Result<Comparison> {
    let core = level == "core";
    let bytes = BufferSize::Bytes(bytes);
    let mut flags = jdk.select(Collector::Parallel)?;
    let young = PAPER_YOUNG / scale;
    flags.extend([format!("-Xmx{}", 3 * young), format!("-Xms{}", 3 * young), format!("-Xmn{young}")]);
    let agent = AgentOptions {
        levels: Some(if core { Levels::Core } else { Levels::Processor }),
        core: if core { bytes } else { BufferSize::Auto },
        processor: if core { BufferSize::Auto } else { bytes },
        tlab: tlab.map_or(Tlab::Stock, Tlab::Bytes),
        ..AgentOptions::default()
    };
    Ok(Comparison {
        program: Program::Workload(
            Workload::Javac,
            WorkloadParameters { threads: Some(threads), ..WorkloadParameters::default() },
            jdk.clone(),
        ),
        sides: [Side::terrace(agent.clone()), Side::off(agent)],
        flags,
        method: method(bench),
        warmup,
        duration,
        seed: 0,
        show: false,
        install: bench.install.clone(),
    })
}

/// What a comparison says, as values of the metrics.
fn sample(outcome: &ComparisonResult) -> Sample {
    let [a, b] = [&outcome.sides.a, &outcome.sides.b];
    let mut sample = Sample { processes: 1, settings: a.settings.clone(), ..Sample::default() };
    sample = sample.estimate("speedup", outcome.ratio);
    for (metric, values) in [("rate", &a.rates), ("rate_off", &b.rates)] {
        sample.values.insert(metric.into(), values.clone());
    }
    let waste = a.waste.filter(|waste| waste.of_bytes > 0);
    let share = |bytes: u64, of: u64| bytes as f64 / of as f64;
    // TLABs that are larger than the buffers go past them, as in the paper's Table II; a share of a handful says nothing.
    let requests: Option<Requests> = a.requests.filter(|requests| requests.served >= FEWEST_SERVED);
    let known = [
        ("foreign", requests.and_then(|requests| requests.foreign_share()).map(|share| share * 100.0)),
        ("collections", a.collections_rate),
        ("collections_off", b.collections_rate),
        ("waste_refill", waste.map(|waste| 100.0 * share(waste.refill_bytes, waste.of_bytes))),
        ("waste_collection", waste.map(|waste| 100.0 * share(waste.collection_bytes, waste.of_bytes))),
        (
            "reserved",
            waste.zip(requests).map(|(waste, requests)| share(requests.reserved_bytes, waste.of_bytes)),
        ),
    ];
    for (metric, value) in known {
        sample = match value {
            Some(value) => sample.value(metric, value),
            None => sample.cannot_have(metric, "TLABs bypassed the buffers: they are larger"),
        };
    }
    outcome.notes.iter().fold(sample, |sample, note| sample.note(note.clone()))
}

/// The rate with buffers over that of growing TLABs without any, for the same threads, level and size.
fn over_growing(cells: &mut [MeasuredCell]) {
    let base: Vec<(MeasuredCell, Interval)> = cells
        .iter()
        .filter(|cell| cell.parameters.get("tlab") == Some(&GROWING.into()))
        .filter_map(|cell| Some((cell.clone(), cell.metrics.get("rate_off")?.interval()?)))
        .collect();
    for cell in cells {
        let same = |other: &MeasuredCell| {
            ["threads", "level", "size"]
                .iter()
                .all(|key| other.parameters.get(*key) == cell.parameters.get(*key))
        };
        let base = base.iter().find(|(other, _)| same(other)).map(|(_, rate)| *rate);
        let quantity = base.and_then(|base| cell.metrics.get("rate")?.over(base));
        let lacking = || Quantity::of(vec![], "the JVM with growing TLABs was not measured");
        cell.metrics.insert("over_growing".into(), quantity.unwrap_or_else(lacking));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use compare::machine::Host;
    use experiment::{Effort, Value, Wanted};
    use jvm::install::Install;

    fn cell(tlab: &str, rate: &[f64], off: &[f64]) -> MeasuredCell {
        MeasuredCell {
            parameters: parameters([
                ("threads", 2_u32.into()),
                ("tlab", tlab.into()),
                ("level", "core".into()),
            ]),
            metrics: [("rate", rate), ("rate_off", off)]
                .map(|(key, values)| (key.to_owned(), Quantity::of(values.to_vec(), "none")))
                .into(),
            ..MeasuredCell::default()
        }
    }

    #[test]
    fn the_young_generation_is_an_eighth_of_memory_at_most() {
        for gigabytes in [8, 16, 64, 128, 1024] {
            let memory: u64 = gigabytes << 30;
            let scale = scale(1, memory);
            assert!(PAPER_YOUNG / scale <= memory / 8, "{gigabytes} GB");
            assert!(scale == 1 || PAPER_YOUNG / (scale / 2) > memory / 8, "{gigabytes} GB");
        }
        assert_eq!(scale(1, 128 << 30), 1, "the paper's machine");
        assert_eq!((scale(16, 128 << 30), scale(1, 1 << 20)), (16, 64));
    }

    #[test]
    fn seconds_and_precision_are_those_that_were_requested() {
        let bench = |wanted| Bench {
            effort: Effort::Quick,
            jdks: Vec::new(),
            install: Install::at(Vec::new()),
            machine: Host::here(),
            scratch: std::env::temp_dir(),
            allow_sysctl: false,
            wanted,
        };
        let requested = Wanted { seconds: Some(60), precision: Some(0.01), ..Wanted::default() };
        let precise = |wanted| match method(&bench(wanted)) {
            Method::Windows { precision, .. } => precision,
            Method::Forks { .. } => None,
        };
        assert_eq!((precise(Wanted::default()), precise(requested)), (None, Some(Precision(0.01))));
        let seconds = |wanted| plan(&bench(wanted)).unwrap().cells[0].seconds;
        assert_eq!(seconds(requested) - seconds(Wanted::default()), 60.0 - 9.0);
    }

    #[test]
    fn growing_without_buffers_is_the_common_baseline() {
        let mut cells = [cell("1k", &[90.0, 110.0], &[50.0]), cell(GROWING, &[105.0], &[100.0])];
        over_growing(&mut cells);
        let of = |cell: &MeasuredCell| cell.metrics["over_growing"].interval().unwrap().median;
        assert_eq!((of(&cells[0]), of(&cells[1])), (1.0, 1.05));
        let (rate, off) = ([90.0, 95.0, 100.0, 105.0, 110.0], [80.0, 90.0, 100.0, 110.0, 120.0]);
        let mut wide = [cell("1k", &rate, &[50.0]), cell(GROWING, &[105.0], &off)];
        over_growing(&mut wide);
        let found = wide[0].metrics["over_growing"].interval().unwrap();
        assert_eq!((found.low, found.high), (90.0 / 120.0, 110.0 / 80.0), "the scatter of both");
        let mut alone = [cell("1k", &[90.0], &[50.0])];
        over_growing(&mut alone);
        assert!(alone[0].metrics["over_growing"].interval().is_none());
    }

    #[test]
    fn published_values_lie_on_the_full_grids_axes() {
        for reference in published::foreign() {
            assert!(
                matches!(&reference.parameters["level"], Value::Text(level) if level == "core" || level == "processor")
            );
            assert!(reference.value >= 0.0 && reference.value < 3.0);
        }
        assert_eq!(published::foreign().len(), 9 * 5 + 6 * 4 - 2);
    }
}
