//! `defaults`: Terrace's defaults inside one JVM, buffers on against off. With `tlab=auto` HotSpot's flags stay as they are, so that
//! buffers off is a stock JVM, and nothing has to be compared across processes. Where a stock flag helps, too, Terrace is also
//! compared with that, in forks.

mod claims;

use super::matrix::COLLECTORS;
use crate::Result;
use compare::words;
use experiment::compared::{Case, metrics, plan as plan_of, varying};
use experiment::{Bench, Cell, Declaration, Effort, Experiment, Kind, Plan, Plot, parameters};
use jvm::agent::Tlab;
use jvm::jdk::{Collector, Jdk};
use jvm::workload::{Lengths, Parameters as WorkloadParameters, Workload};

const THREADS: [u32; 4] = [2, 16, 64, 256];
/// A compiler for each.
const JAVAC_THREADS: [u32; 5] = [2, 8, 16, 64, 256];
/// A cell's time at most, and that of javac, whose calls are few.
const MOST_SECONDS: u64 = 45;
const MOST_JAVAC_SECONDS: u64 = 120;
/// Half of an interval's width at which a cell ends, as a share.
const PRECISION: f64 = 0.015;
/// What is compared, and what measuring adds by itself.
const COMPARED: [(&str, [&str; 2]); 3] =
    [("on / off", ["terrace", "off"]), (CONTROL, ["off", "off"]), (FLAG, ["terrace", "-XX:TLABSize=4k"])];
const CONTROL: &str = "off / off";
/// What a user would try first where threads are many.
const FLAG: &str = "Terrace / TLABSize=4k";
/// With so many threads, and so many seconds of a fork.
const FLAG_THREADS: [u32; 2] = [2, 64];
const FORK: u64 = 3;
/// The JVM's own choice of a young generation.
const OWN_CHOICE: &str = "own";

type Young = (&'static str, &'static [&'static str]);

/// The young generations: name, and flags. Of javac the trees of as many compilers have to fit.
fn young(workload: Workload, threads: u32) -> &'static [Young] {
    match (workload, threads) {
        (Workload::Javac, ..=16) => &[
            ("16m", &["-Xms3g", "-Xmx3g", "-Xmn16m"]),
            ("64m", &["-Xms3g", "-Xmx3g", "-Xmn64m"]),
            (OWN_CHOICE, &[]),
        ],
        (Workload::Javac, ..=64) => &[
            ("16m", &["-Xms6g", "-Xmx6g", "-Xmn16m"]),
            ("64m", &["-Xms6g", "-Xmx6g", "-Xmn64m"]),
            (OWN_CHOICE, &["-Xmx6g"]),
        ],
        (Workload::Javac, _) => &[
            ("16m", &["-Xms12g", "-Xmx12g", "-Xmn16m"]),
            ("64m", &["-Xms12g", "-Xmx12g", "-Xmn64m"]),
            (OWN_CHOICE, &["-Xmx12g"]),
        ],
        _ => &[
            ("16m", &["-Xms512m", "-Xmx512m", "-Xmn16m"]),
            ("64m", &["-Xms512m", "-Xmx512m", "-Xmn64m"]),
            (OWN_CHOICE, &[]),
        ],
    }
}

/// Why a heap of these flags cannot be had in so much memory, where it cannot: the program would be swapped, or killed.
fn does_not_fit(flags: &[&str], memory: u64) -> Option<String> {
    let heap = flags.iter().find_map(|flag| jvm::size::parse(flag.strip_prefix("-Xmx")?).ok())?;
    let needed = heap + heap / 4;
    (needed > memory).then(|| {
        format!(
            "its heap needs {:.0} GB of memory and {:.1} GB are available; measure on a larger machine",
            needed as f64 / 1e9,
            memory as f64 / 1e9
        )
    })
}

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims::claims, claims::answer)
}

fn declaration() -> Declaration {
    let plot = |title, metric| {
        let plot = Plot::new(Kind::Bars, title, metric, "threads", &["young", "compared"]);
        plot.panels(&["workload", "collector", "jdk"])
    };
    Declaration {
        name: "defaults".into(),
        title: "Terrace's defaults, buffers on compared with off, and with a flag".into(),
        question: "Is any program slower with Terrace's defaults than on a stock JVM?".into(),
        parameters: varying(&["workload", "collector", "jdk", "threads", "young", "compared"]),
        metrics: metrics(&["speed", "cpu", "heap", "pairs", "untrimmed"]),
        plots: vec![plot("Per second", "speed"), plot("Per CPU-second", "cpu")],
        by_name: true,
        ..Declaration::default()
    }
}

/// Quick: the newest JDK with few threads, the JVM's own young generation, without Serial and without controls.
fn plan(bench: &Bench) -> Result<Plan> {
    let mut cells = Vec::new();
    for workload in [Workload::Alloc, Workload::Sizes, Workload::Churn, Workload::Threads, Workload::Javac] {
        let threads: &[u32] = if workload == Workload::Javac { &JAVAC_THREADS } else { &THREADS };
        for collector in COLLECTORS {
            for jdk in bench.chosen_jdks() {
                for threads in threads {
                    for young in young(workload, *threads) {
                        for compared in COMPARED {
                            let many = matches!(workload, Workload::Churn | Workload::Threads)
                                && FLAG_THREADS.contains(threads);
                            if compared.0 == FLAG && !(many && young.0 == OWN_CHOICE) {
                                continue;
                            }
                            let few = *threads <= 8 && young.0 == OWN_CHOICE && compared.0 != CONTROL;
                            if bench.effort == Effort::Full || few && collector != Collector::Serial {
                                cells.push(cell(bench, workload, collector, jdk, *threads, young, compared)?);
                            }
                        }
                    }
                }
            }
        }
    }
    Ok(plan_of(bench, 1, cells))
}

fn cell(
    bench: &Bench,
    workload: Workload,
    collector: Collector,
    jdk: &Jdk,
    threads: u32,
    (young, flags): &Young,
    (compared, sides): (&str, [&str; 2]),
) -> Result<Cell> {
    let case = Case {
        workload,
        parameters: WorkloadParameters {
            threads: Some(threads),
            lengths: (workload == Workload::Sizes).then(|| Lengths::Mixture("16..200k".into())),
            ..WorkloadParameters::default()
        },
        jdk: jdk.clone(),
        collector,
        flags,
        tlab: Tlab::Auto,
        warmup: if workload == Workload::Javac { 15 } else { 3 },
    };
    let at = parameters([
        ("workload", workload.name().into()),
        ("collector", collector.name().into()),
        ("jdk", jdk.feature.into()),
        ("threads", threads.into()),
        ("young", (*young).into()),
        ("compared", compared.into()),
    ]);
    if let Some(why) = does_not_fit(flags, compare::machine::memory_bytes()) {
        return Ok(Cell::unavailable(at, why));
    }
    let sides = words::sides(sides, &case.agent())?;
    if compared == FLAG {
        return Ok(case.forks(bench, at, sides, FORK, bench.effort.pick(6, 12)));
    }
    // Short, since noise is slow: 20 ms reach 1.5 % in two thirds of the time that 50 ms take. With many more threads than CPUs a
    // window is long enough for many of them to have had their turn.
    let window = if threads > 16 { 100 } else { 20 };
    let seconds = if workload == Workload::Javac { MOST_JAVAC_SECONDS } else { MOST_SECONDS };
    Ok(case.windows(bench, at, sides, window, seconds, Some(PRECISION)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_have_a_heap_that_the_machine_can_give() {
        let flags = |threads, at: usize| young(Workload::Javac, threads)[at].1;
        assert_eq!(does_not_fit(flags(256, 0), 16 << 30), None);
        let why = does_not_fit(flags(256, 1), 8 << 30).unwrap();
        assert!(why.contains("16 GB of memory and 8.6 GB are available"), "{why}");
        assert_eq!(does_not_fit(flags(2, 2), 1 << 30), None, "HotSpot's own choice fits");
        assert!(does_not_fit(flags(64, 2), 7 << 30).is_some());
    }
}
