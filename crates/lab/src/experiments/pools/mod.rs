//! `pools`: thread pools with many more threads than CPUs over small young generations, where the simulator's map says that buffers
//! pay on large machines: Terrace's defaults in one JVM, core buffers on against off.

use super::matrix::{LOSS, mean_and_worst};
use crate::Result;
use compare::words;
use experiment::claim::OWN;
use experiment::compared::{Case, metrics, plan as plan_of, varying};
use experiment::{
    Bench, Claim, Declaration, Experiment, Kind, Measured, Plan, Plot, Relation, Term, parameters,
};
use jvm::agent::Tlab;
use jvm::jdk::Collector;
use jvm::workload::{Parameters as WorkloadParameters, Workload};

/// Those of the map.
const THREADS: [u32; 4] = [200, 1000, 2000, 5000];
const QUICK_THREADS: [u32; 3] = [200, 1000, 5000];
/// Young generations, of which eden is three quarters.
const YOUNG: [(&str, &[&str]); 2] = [
    ("64m", &["-Xms512m", "-Xmx512m", "-Xmn64m", "-Xss256k"]),
    ("1g", &["-Xms1500m", "-Xmx1500m", "-Xmn1g", "-Xss256k"]),
];
/// Milliseconds of a window: long enough for many threads to have had their turn.
const WINDOW: u64 = 200;
/// Seconds of a cell at most.
const SECONDS: u64 = 60;
/// Half of an interval's width at which a cell ends, as a share.
const PRECISION: f64 = 0.015;

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims, answer)
}

fn declaration() -> Declaration {
    Declaration {
        name: "pools".into(),
        title: "Pools of hundreds to thousands of threads that allocate".into(),
        question: "What do core buffers do for pools of 200 to 5,000 threads on this machine?".into(),
        parameters: varying(&["collector", "jdk", "threads", "young"]),
        metrics: metrics(&["speed", "cpu", "heap", "pairs", "untrimmed"]),
        plots: vec![
            Plot::new(Kind::Bars, "Per second, buffers on / off", "speed", "threads", &["young"])
                .panels(&["collector", "jdk"])
                .caption("Above 1 the buffers help. The TLABs are HotSpot's own on both sides."),
        ],
        by_name: true,
        ..Declaration::default()
    }
}

/// Quick: Parallel on the newest JDK; else also G1.
fn plan(bench: &Bench) -> Result<Plan> {
    let mut cells = Vec::new();
    for collector in bench.effort.pick(&[Collector::Parallel][..], &[Collector::Parallel, Collector::G1]) {
        for jdk in bench.chosen_jdks() {
            for threads in bench.effort.pick(&QUICK_THREADS[..], &THREADS) {
                for (young, flags) in YOUNG {
                    let case = Case {
                        workload: Workload::Alloc,
                        parameters: WorkloadParameters {
                            threads: Some(*threads),
                            ..WorkloadParameters::default()
                        },
                        jdk: jdk.clone(),
                        collector: *collector,
                        flags,
                        tlab: Tlab::Auto,
                        warmup: 5,
                    };
                    let at = parameters([
                        ("collector", collector.name().into()),
                        ("jdk", jdk.feature.into()),
                        ("threads", (*threads).into()),
                        ("young", young.into()),
                    ]);
                    let sides = words::sides(["terrace", "off"], &case.agent())?;
                    cells.push(case.windows(bench, at, sides, WINDOW, SECONDS, Some(PRECISION)));
                }
            }
        }
    }
    Ok(plan_of(bench, bench.effort.pick(1, 3), cells))
}

fn claims(_: &Measured) -> Vec<Claim> {
    let worst = Term::metric("at worst", "speed").lowest();
    vec![Claim::new("no pool is slower with buffers", OWN).that(worst.is(Relation::AtLeast(LOSS), 1.0))]
}

fn answer(measured: &Measured) -> String {
    mean_and_worst(measured, "the work per second with buffers")
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::fixture::{cell, conclude, holds};

    #[test]
    fn a_pool_that_loses_is_told() {
        let of = |threads: u32, speed| cell(parameters([("threads", threads.into())]), &[("speed", speed)]);
        let (answer, checks) = conclude(&experiment(), &[of(200, 1.0), of(5000, 1.02)]);
        assert_eq!(holds(&checks), [Some(true)]);
        assert!(answer.starts_with("On average 1.01 times") && answer.contains("at worst 1"), "{answer}");
        assert_eq!(holds(&conclude(&experiment(), &[of(200, 1.0), of(5000, 0.9)]).1), [Some(false)]);
    }

    #[test]
    fn pools_are_those_of_the_map() {
        assert_eq!(THREADS.to_vec(), coherence::plan::map::POOLS.to_vec());
    }
}
