//! A round: every side once, all at the same time where the memory suffices, and each comparison's ratios of it.

use super::fork::{ForkResult, ForkSide, Forks, kept};
use super::order::Orders;
use super::{COMPARED, METRICS, OF_B, SIDES};
use crate::Result;
use compare::another_seed;
use compare::memory::{Memory, shortage};
use experiment::{Bench, NONE_BELOW, Sample};
use jvm::agent::AgentOptions;
use jvm::application::Application;
use jvm::install::Install;
use jvm::jdk::Jdk;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Of a side that could not count: what was used up of the heap is only known from one collection to the next.
const UNKNOWN: &str =
    "not counted on one side, as the heap used up where fewer than two collections came; increase --seconds";

/// What is taken from the times of single operations.
const LATENCIES: [&str; 3] = ["p50", "p99", "p999"];
const FEW: &str = "fewer than ten operations took longer on one side; increase --seconds";

/// The rounds of a program in a JVM of one kind. A round's forks serve all comparisons: whose turn is first runs them, the others
/// take what is there.
pub(super) struct Rounds {
    pub program: &'static Application,
    pub jdk: Jdk,
    pub flags: Vec<String>,
    pub warmup: u64,
    pub seconds: u64,
    pub install: Install,
    scratch: PathBuf,
    /// Why the sides do not run at the same time.
    in_turn: Option<String>,
    state: RefCell<State>,
}

struct State {
    orders: Orders,
    /// By the comparison's number: what its siblings' turn has left for it.
    left: BTreeMap<usize, Sample>,
}

impl Rounds {
    pub fn new(
        program: &'static Application,
        jdk: &Jdk,
        flags: Vec<String>,
        seconds: u64,
        bench: &Bench,
    ) -> Rounds {
        // Another one in each run: runs of one round would always begin with the same side, and a resumed one again with its first.
        let state = RefCell::new(State { orders: Orders::new(another_seed()), left: BTreeMap::new() });
        let in_turn = must_run_in_turn(&flags, bench.memory_bytes());
        let (warmup, install) = (bench.warmup(program.warmup), bench.install.clone());
        let scratch = bench.scratch.clone();
        Rounds { program, jdk: jdk.clone(), flags, warmup, seconds, install, scratch, in_turn, state }
    }

    /// This comparison's part of its next round.
    pub fn sample(&self, compared: usize) -> Result<Sample> {
        let state = &mut *self.state.borrow_mut();
        if let Some(sample) = state.left.remove(&compared) {
            return Ok(sample);
        }
        let order = state.orders.next();
        let outcomes = self.run(order).inspect_err(|_| state.orders.put_back(order))?;
        state.left = samples(&outcomes);
        if let Some(note) = &self.in_turn {
            state.left.values_mut().for_each(|sample| sample.notes.push(note.clone()));
        }
        Ok(state.left.remove(&compared).unwrap_or_default())
    }

    fn run(&self, order: [usize; 3]) -> Result<BTreeMap<usize, ForkResult>> {
        let Rounds { program, jdk, flags, warmup, seconds, install, scratch, .. } = self;
        let forks = Forks { program, jdk, flags, warmup: *warmup, seconds: *seconds, install, scratch };
        let sides: [ForkSide; 3] = order.map(|side| {
            let (_, terrace, more) = SIDES[side];
            (terrace.then(AgentOptions::default), more)
        });
        let at_the_same_time = if self.in_turn.is_some() { 1 } else { sides.len() };
        let mut outcomes = Vec::new();
        for sides in sides.chunks(at_the_same_time) {
            outcomes.extend(forks.run(sides)?);
        }
        Ok(order.into_iter().zip(outcomes).collect())
    }
}

/// Why JVMs with these flags run in turn on a machine with so much memory, where they must.
fn must_run_in_turn(flags: &[String], memory: u64) -> Option<String> {
    let count = SIDES.len();
    // The lab has the machine for itself.
    let memory = Memory { limit: memory, usable: memory };
    shortage(&vec![flags.to_vec(); count], memory).map(|shortage| {
        format!(
            "the {count} JVMs of a round ran one after another, because {shortage}: their ratios scatter more; measure on a machine with \
             more memory, or with the small heap"
        )
    })
}

fn samples(outcomes: &BTreeMap<usize, ForkResult>) -> BTreeMap<usize, Sample> {
    let ratios = |(number, (_, a, b)): (usize, &(&str, usize, usize))| {
        Some((number, sample((*a, outcomes.get(a)?), (*b, outcomes.get(b)?))))
    };
    COMPARED.iter().enumerate().filter_map(ratios).collect()
}

fn sample((a, of_a): (usize, &ForkResult), (b, of_b): (usize, &ForkResult)) -> Sample {
    let settings: Map<String, Value> = [(a, of_a), (b, of_b)]
        .map(|(side, of)| (SIDES[side].0.to_owned(), kept(of, SIDES[side].2)))
        .into_iter()
        .collect();
    let mut sample = Sample { processes: 2, ..Sample::default() }.with_settings(settings.into());
    for (metric, ..) in METRICS {
        let sides = of_a.get(metric).zip(of_b.get(metric));
        let value = match metric {
            "collections_a" => of_a.get("count"),
            "collections_b" => of_b.get("count"),
            own if own.ends_with(OF_B) => of_b.get(own.trim_end_matches(OF_B)),
            // None on side b is a count like any other: rounds are taken together by sums.
            "collections" | "pauses" => {
                if let Some((a, b)) = sides {
                    let weight = weight(of_a, of_b);
                    sample = sample.total(metric, a * weight, b * weight);
                }
                sides.filter(|(_, below)| *below > 0.0).map(|(a, b)| a / b)
            }
            _ => sides.filter(|(_, below)| *below > 0.0).map(|(a, b)| a / b),
        };
        sample = match value {
            Some(value) => sample.value(metric, value),
            None if LATENCIES.contains(&metric.trim_end_matches(OF_B)) => sample.cannot_have(metric, FEW),
            None => sample.lacks(metric, reason(of_b.get(metric))),
        };
    }
    sample
}

/// Why there is no ratio to what side b has.
fn reason(below: Option<f64>) -> &'static str {
    if below == Some(0.0) { NONE_BELOW } else { UNKNOWN }
}

/// Of the round's counts for each operation in the sums over rounds: Mantel and Haenszel's, the most precise where the ratio is near 1.
fn weight(of_a: &ForkResult, of_b: &ForkResult) -> f64 {
    let (a, b) = (of_a.operations(), of_b.operations());
    a * b / (a + b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(operations: u32, collections: u32) -> ForkResult {
        let line = format!(
            r#"{{"operation":"o","operations":{operations},"seconds":2,"cpu_seconds":4,"allocated_bytes":null,"collections":{collections},
            "collection_seconds":0,"p50_ms":1,"p99_ms":2,"p999_ms":4,"timed_operations":{operations},"peak_resident_bytes":8,"checks":"passed"}}"#
        );
        ForkResult::read(&line.replace('\n', ""), Value::Null).unwrap()
    }

    #[test]
    fn sides_run_in_turn_only_where_their_memory_does_not_suffice() {
        let flags = ["-XX:+UseG1GC", "-Xmx2g"].map(str::to_owned);
        assert_eq!(must_run_in_turn(&flags, 16 << 30), None);
        let why = must_run_in_turn(&flags, 4 << 30).unwrap();
        assert!(
            why.contains("one after another") && why.contains("7.7 GB") && why.contains("4.3 GB"),
            "{why}"
        );
    }

    #[test]
    fn every_comparison_has_the_ratios_of_its_own_sides() {
        let outcomes = [outcome(100, 50), outcome(110, 11), outcome(120, 0)];
        let found = samples(&outcomes.into_iter().enumerate().collect());
        let value = |compared: usize, metric: &str| found[&compared].values.get(metric).map(|all| all[0]);
        assert_eq!((value(0, "speed"), value(1, "speed")), (Some(1.1), Some(1.2)));
        assert_eq!((value(0, "collections"), value(1, "collections")), (Some(0.2), Some(0.0)));
        assert_eq!((value(1, "collections_a"), value(1, "collections_b")), (Some(0.0), Some(50.0)));
        assert_eq!(
            (value(1, "rate_b"), value(2, "rate_b")),
            (Some(50.0), Some(55.0)),
            "of stock, of the flag"
        );
        // Nothing over nothing is unknown, never 1 or 0.
        assert!(value(1, "pauses").is_none() && found[&1].unavailable.contains_key("pauses"));
        assert_eq!(found[&1].unavailable["pauses"], NONE_BELOW);
        assert_eq!(found[&1].unavailable["heap"], UNKNOWN, "no log was read");
        // But a count like any other where rounds are added up.
        assert_eq!(found[&1].totals["pauses"], [0.0, 0.0]);
        let [a, b] = found[&0].totals["collections"];
        assert!((a - 11.0 * 100.0 / 210.0).abs() < 1e-9 && (b - 50.0 * 110.0 / 210.0).abs() < 1e-9);
        assert_eq!(found[&2].totals["collections"][0], 0.0);
        assert_eq!(COMPARED[2].0, "Terrace / TLABSize=4k");
        assert_eq!(value(2, "speed"), Some(120.0 / 110.0));
    }
}
