//! `applications`: real programs by their own operations, with Terrace's defaults, with the flag that a user would try first, and stock.

mod claims;
mod fork;
pub(super) mod in_process;
mod order;
mod round;

use crate::Result;
use experiment::compared::{AROUND, plan as plan_of, varying};
use experiment::{
    Bench, Better, Cell, Declaration, Effort, Experiment, Kind, Metric, Parameters, Plan, Plot, Runner,
    parameters,
};
use jvm::application::{APPLICATIONS, Application};
use jvm::jdk::{Collector, Jdk};
use round::Rounds;
use std::rc::Rc;

/// Seconds of a JVM of one side, if it were alone.
const SECONDS: u64 = 5;
pub(super) const COLLECTORS: [Collector; 2] = [Collector::G1, Collector::Parallel];

/// The sides: name, whether the agent is there, and flags.
const SIDES: [(&str, bool, &[&str]); 3] =
    [("stock", false, &[]), ("TLABSize=4k", false, &["-XX:TLABSize=4k"]), ("Terrace", true, &[])];
/// What is compared: a side with another, by their numbers.
const COMPARED: [(&str, usize, usize); 3] =
    [("TLABSize=4k / stock", 1, 0), (DEFAULTS, 2, 0), ("Terrace / TLABSize=4k", 2, 1)];
const DEFAULTS: &str = "Terrace / stock";
/// Windows in one JVM: with buffers off and the defaults it is a stock JVM.
const ON_OFF: &str = "on / off, one process";

/// Key, name, unit, better, definition. A ratio is a over b of one round: of JVMs that ran at the same time, or of the windows of one.
const METRICS: [(&str, &str, &str, Better, &str); 17] = [
    ("speed", "per second", "ratio", Better::Higher, "operations per second, a over b"),
    (
        "cpu",
        "per CPU-second",
        "ratio",
        Better::Higher,
        "operations per second of CPU time (forks: of the whole process; one process: of the application's threads), a over b",
    ),
    ("collections", "collections", "ratio", Better::Lower, "collections per operation, a over b"),
    ("pauses", "pauses", "ratio", Better::Lower, "time in collections per operation, a over b"),
    ("resident", "resident", "ratio", Better::Lower, "peak resident memory, a over b"),
    ("p50", "p50", "ratio", Better::Lower, "median operation latency, a over b"),
    ("p99", "p99", "ratio", Better::Lower, "99th percentile of operation latency, a over b"),
    ("p999", "p99.9", "ratio", Better::Lower, "99.9th percentile of operation latency, a over b"),
    ("heap", "heap used up", "ratio", Better::Lower, "heap used up for the same work, a over b"),
    ("collections_a", "collections of a", "", Better::Neither, "collections in the measured time of a"),
    ("collections_b", "collections of b", "", Better::Neither, "collections in the measured time of b"),
    ("rate_b", "rate of b", "operations/s", Better::Neither, "operations of b per second"),
    ("stopped_b", "stopped in b", "%", Better::Neither, "collections' share of the measured time of b"),
    ("resident_b", "resident in b", "MB", Better::Neither, "peak resident memory of b"),
    ("p50_b", "p50 of b", "ms", Better::Neither, "median operation latency of b"),
    ("p99_b", "p99 of b", "ms", Better::Neither, "99th percentile of b's operation latency"),
    ("p999_b", "p99.9 of b", "ms", Better::Neither, "99.9th percentile of b's operation latency"),
];

/// How the keys end of what side b comes to, of which the ratios are multiples.
const OF_B: &str = "_b";
const SHARED: &str =
    "in forks while b shares the CPUs with the round's two other JVMs, unless these run one after another";

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims::claims, claims::answer)
}

fn declaration() -> Declaration {
    let metric = |(key, name, unit, better, text)| {
        let metric = Metric::new(key, name, unit, better, text);
        if metric.key.ends_with(OF_B) { metric.caveat(SHARED) } else { metric }
    };
    let plot = |title, metric| {
        let plot = Plot::new(Kind::Bars, title, metric, "program", &["compared"]);
        plot.panels(&["collector", "jdk", "heap"])
    };
    Declaration {
        name: "applications".into(),
        title: "Real programs with Terrace, and with the flag one would try first".into(),
        question: "What do Terrace's defaults do for real programs, and what does -XX:TLABSize=4k do alone?"
            .into(),
        parameters: varying(&["program", "collector", "jdk", "heap", "compared"]),
        metrics: METRICS.map(metric).into(),
        plots: vec![
            plot("Operations per second", "speed").caption("Above 1 the side before the slash is faster."),
            plot("Operations per CPU-second", "cpu").caption(
                "Above 1 the side before the slash needs less CPU time; in forks the more exact of the two.",
            ),
            plot("Latency, 99th percentile", "p99").caption("Below 1 the side before the slash is better."),
            plot("Collections per operation", "collections"),
        ],
        by_name: true,
        shows_all: true,
        ..Declaration::default()
    }
}

/// Quick: the newest JDK with G1 and a small heap.
fn plan(bench: &Bench) -> Result<Plan> {
    let mut cells = Vec::new();
    for program in &APPLICATIONS {
        for collector in COLLECTORS {
            for jdk in bench.chosen_jdks() {
                for heap in program.heaps {
                    let quick = collector == Collector::G1 && heap == program.heaps[0];
                    if bench.effort == Effort::Full || quick {
                        cells.push(in_process::cell(bench, program, collector, jdk, heap));
                        cells.extend(compared(bench, program, collector, jdk, heap));
                    }
                }
            }
        }
    }
    Ok(plan_of(bench, bench.effort.pick(1, 6), cells))
}

/// A cell for each comparison; their forks are the same.
fn compared(
    bench: &Bench,
    program: &'static Application,
    collector: Collector,
    jdk: &Jdk,
    (heap, flag): (&str, &str),
) -> Vec<Cell> {
    let seconds = bench.wanted.seconds.unwrap_or(SECONDS);
    let rounds = flags(bench, program, collector, jdk, flag)
        .map(|flags| Rc::new(Rounds::new(program, jdk, flags, seconds, bench)));
    let cell = |(number, (compared, ..)): (usize, &(&str, usize, usize))| Cell {
        parameters: place(program, collector, jdk, heap, compared),
        seconds: (bench.warmup(program.warmup) + seconds) as f64 + AROUND,
        runner: match &rounds {
            Err(error) => Runner::Unavailable(error.to_string()),
            Ok(rounds) => {
                let rounds = Rc::clone(rounds);
                Runner::native(move || rounds.sample(number))
            }
        },
    };
    COMPARED.iter().enumerate().map(cell).collect()
}

fn place(program: &Application, collector: Collector, jdk: &Jdk, heap: &str, compared: &str) -> Parameters {
    parameters([
        ("program", program.name.into()),
        ("collector", collector.name().into()),
        ("jdk", jdk.feature.into()),
        ("heap", heap.into()),
        ("compared", compared.into()),
    ])
}

/// The JVM's flags; an error where it cannot run the program.
pub(super) fn flags(
    bench: &Bench,
    program: &Application,
    collector: Collector,
    jdk: &Jdk,
    heap: &str,
) -> Result<Vec<String>> {
    program.arguments(jdk, &bench.install, &bench.scratch)?;
    let mut flags = jdk.select(collector)?;
    flags.push(heap.to_owned());
    Ok(flags)
}
