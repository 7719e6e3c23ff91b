//! What a load takes, by how much memory is loaded from; and what it takes to hand a line to another CPU.

mod chase;
mod claims;
mod knees;
pub(crate) mod machine;
mod pairs;
mod transfer;

use crate::{Error, Result};
use chase::Ring;
use compare::clock;
use experiment::machine::page::{Cache, caches};
use experiment::native::pin;
use experiment::native::time::typical;
use experiment::{
    Bench, Better, Cell, Declaration, Effort, Experiment, Kind, Metric, Parameter, Plan, Plot, QUICK_ROUNDS,
    Reference, Runner, Sample, Source, parameters,
};
use pages::Policy;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

pub const NAME: &str = "latency";

const LOADS: &str = "random loads";
const TRANSFER: &str = "line transfer";
const ALONE: &str = "one thread";
const SMALL: &str = "4 KB";
const HUGE: &str = "huge";
const NO_CLOCK: &str = "on this architecture there is no loop that measures the core's clock";

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims::claims, claims::answer)
}

fn declaration() -> Declaration {
    let only = |what: &str| [("measurement", what.into())];
    Declaration {
        name: NAME.into(),
        title: "Memory latency and line transfer".into(),
        question: "What does a load cost from each cache and from memory, what do huge pages change, and what does it cost \
                   to get a line from another CPU?"
            .into(),
        source: Some(Source::new(
            "Taking JVM on a performance ride (4D tensor)",
            "Part 6: Memory (TLB) (2026)",
            "Core i7-9750",
        )),
        parameters: vec![
            Parameter::new("measurement", "Measurement", ""),
            Parameter::new("size", "Memory", "bytes"),
            Parameter::new("pages", "Pages", ""),
            Parameter::new("from", "From CPU", ""),
            Parameter::new("to", "To CPU", ""),
            Parameter::new("relation", "They share", ""),
        ],
        metrics: metrics(),
        plots: vec![
            Plot::new(Kind::Lines, "Time per load", "ns", "size", &["pages"])
                .caption("A step marks the end of a cache; the distance between the lines is the cost of address translation.")
                .only(only(LOADS))
                .log_x()
                .log_y(),
            Plot::new(Kind::Lines, "Cycles per load", "cycles", "size", &["pages"])
                .caption("The same in cycles, for comparison with the processor's documentation.")
                .only(only(LOADS))
                .log_x()
                .log_y(),
            Plot::new(Kind::Bars, "Transferring a line to another CPU", "transfer_ns", "to", &["from"])
                .caption("The closer two CPUs are, the less time it takes.")
                .only(only(TRANSFER)),
        ],
        references: references(),
        ..Declaration::default()
    }
}

fn metrics() -> Vec<Metric> {
    let new = |key, name, unit, definition| Metric::new(key, name, unit, Better::Lower, definition);
    vec![
        new(
            "ns",
            "Time per load",
            "ns",
            "the median time of batches of 16384 loads, over 16384; each load depends on the one before, over a random \
             cycle through all 64-byte lines",
        )
        .caveat("Includes address translation. Beyond the caches, a batch visits only some of the lines, none twice."),
        new(
            "cycles",
            "Cycles per load",
            "cycles",
            "the time per load over the time for an addition that depends on the one before, which is a cycle; measured \
             on the same CPU just before and after",
        )
        .caveat(
            "Cycles of the core's clock at that moment, not of the time-stamp counter. The last-level cache and memory \
             have other clocks, so these levels have no fixed number of cycles.",
        ),
        new(
            "transfer_ns",
            "Line transfer",
            "ns",
            "half of a round trip in which two pinned threads write to a line alternately, each after it has read what \
             the other wrote; the median of groups of 200 round trips",
        )
        .caveat("A virtual CPU may move between physical cores: the value is then a mean over its \
                 placements."),
        new(
            "locked_ns",
            "Uncontended lock xadd",
            "ns",
            "the time for a lock xadd by one thread on its own line, back to back",
        ),
        new(
            "load_ns",
            "Load from the first cache",
            "ns",
            "the time for a load from 4 KB that depends on the one before",
        ),
        new("store_ns", "Store", "ns", "the time for a plain store by one thread to its own line")
            .caveat("A rate rather than a latency: stores wait in a buffer, and nothing waits for them."),
    ]
}

/// The source's table. Where it gives a range, both ends; sizes are such as fit the level of that processor (L1 32 KB, L2
/// 256 KB, L3 12 MB).
fn references() -> Vec<Reference> {
    let table: [(&str, u64, f64); 7] = [
        ("L1, from", 16 << 10, 4.0),
        ("L1, to", 16 << 10, 5.0),
        ("L2, from", 128 << 10, 12.0),
        ("L2, to", 128 << 10, 14.0),
        ("L3, from", 4 << 20, 40.0),
        ("L3, to and more", 4 << 20, 60.0),
        ("memory, at least", 256 << 20, 100.0),
    ];
    (table.into_iter())
        .map(|(level, bytes, cycles)| {
            let at = [("measurement", LOADS.into()), ("size", bytes.into())];
            Reference::new(&format!("TLB article, Core i7-9750: {level}"), "cycles", at, cycles)
        })
        .collect()
}

/// Sizes in bytes, ascending: quick, powers of two, and of each cache's size three quarters, all, and one and a half;
/// full, four to the octave.
fn sizes(effort: Effort, caches: &[Cache], most: u64) -> Vec<u64> {
    let mut sizes = BTreeSet::new();
    let mut octave = 4_u64 << 10;
    while octave <= most {
        sizes.insert(octave);
        if effort == Effort::Full {
            sizes.extend([5, 6, 7].map(|quarters| octave / 4 * quarters));
        }
        octave *= 2;
    }
    for cache in data(caches) {
        sizes.extend([cache.bytes / 4 * 3, cache.bytes, cache.bytes / 2 * 3]);
    }
    sizes.into_iter().filter(|bytes| (4 << 10..=most).contains(bytes)).collect()
}

fn data(caches: &[Cache]) -> impl Iterator<Item = &Cache> {
    caches.iter().filter(|cache| cache.kind != "Instruction")
}

/// The largest size for so much memory, of which the kernel may tell nothing (0).
fn largest(memory: u64) -> u64 {
    if memory == 0 { u64::MAX } else { memory / 4 }
}

/// Whether a size can be measured now. One that cannot is planned all the same: a run that is continued when less memory is free keeps what
/// it has measured of it.
fn fits(bytes: u64, free: Option<u64>) -> Result<()> {
    if bytes <= free.map_or(u64::MAX, |free| free / 4) {
        return Ok(());
    }
    Err(Error::failed(format!(
        "at most a quarter of the free memory is used; free {} and continue with --resume",
        present::numbers::human(4.0 * bytes as f64)
    )))
}

fn plan(bench: &Bench) -> Result<Plan> {
    let wanted: u64 = bench.effort.pick(256 << 20, 1 << 30);
    let most = wanted.min(largest(bench.memory_bytes()));
    let free = compare::machine::available_bytes();
    let mut notes = Vec::new();
    if most < wanted {
        notes.push(format!(
            "Sizes end at {} instead of {}: at most a quarter of the memory is used. Measure larger sizes on a machine, or in a control group, with more.",
            present::numbers::human(most as f64),
            present::numbers::human(wanted as f64)
        ));
    }
    let length = bench.effort.pick(Duration::from_millis(20), Duration::from_millis(50));
    let repetitions = bench.effort.pick(2, 3);
    let mut cells = Vec::new();
    for bytes in sizes(bench.effort, &caches(), most) {
        for (name, policy) in [(SMALL, Policy::Small), (HUGE, Policy::Transparent)] {
            let runner = match policy.available(bytes as usize).map_err(|error| error.to_string()) {
                Ok(()) => match fits(bytes, free) {
                    Ok(()) => Runner::native(move || loads(bytes, policy, length, repetitions)),
                    Err(error) => Runner::Unavailable(error.to_string()),
                },
                Err(reason) => Runner::Unavailable(reason),
            };
            cells.push(Cell {
                parameters: parameters([
                    ("measurement", LOADS.into()),
                    ("size", bytes.into()),
                    ("pages", name.into()),
                ]),
                // Pages are touched, the order is made, every line is written, and some of it is met before it counts.
                seconds: f64::from(repetitions) * length.as_secs_f64() + 0.01 + bytes as f64 * 3e-9,
                runner,
            });
        }
    }
    let (pairs, left_out) = pairs::pairs(&topology::Machine::detect(), bench.effort.pick(2, 16));
    if pairs.is_empty() {
        notes.push("A line transfer needs two CPUs; only one is usable here.".into());
    }
    if left_out > 0 {
        notes.push(format!(
            "Only some of the pairs of CPUs that share the same are measured: {left_out} are omitted."
        ));
    }
    let trips = bench.effort.pick(Duration::from_millis(40), Duration::from_millis(200));
    for pair in pairs {
        cells.push(Cell {
            parameters: parameters([
                ("measurement", TRANSFER.into()),
                ("from", pair.from.into()),
                ("to", pair.to.into()),
                ("relation", pair.relation.into()),
            ]),
            seconds: f64::from(repetitions) * trips.as_secs_f64(),
            runner: Runner::native(move || {
                let mut sample = Sample::default();
                for _ in 0..repetitions {
                    sample.add("transfer_ns", transfer::transfer(pair.from, pair.to, trips)?);
                }
                Ok(sample)
            }),
        });
    }
    cells.push(Cell {
        parameters: parameters([("measurement", ALONE.into())]),
        seconds: 3.0 * f64::from(repetitions) * length.as_secs_f64(),
        runner: Runner::native(move || alone(length, repetitions)),
    });
    Ok(Plan { cells, rounds: bench.effort.pick(QUICK_ROUNDS, 5), notes, ..Plan::default() })
}

/// Loads that are timed at a time: even from the first cache they take a hundred times as long as looking at the clock.
const BATCH: u64 = 1 << 14;
/// Loads before those that count, at most: enough to fill the caches.
const WARM_UP: u64 = 1 << 20;

fn loads(bytes: u64, policy: Policy, length: Duration, repetitions: u32) -> Result<Sample> {
    // On the measuring thread from the first touch on, so that the memory is near it.
    pin::alone(|| {
        let mut ring = Ring::new(bytes as usize, policy, bytes)?;
        ring.follow((2 * ring.lines() as u64).min(WARM_UP).next_multiple_of(16));
        let mut sample = Sample::default();
        let mut cycle = None;
        for _ in 0..repetitions {
            let before = clock::cycle_nanoseconds();
            let nanoseconds = typical(length, BATCH, |loads| ring.follow(loads));
            let after = clock::cycle_nanoseconds();
            sample.add("ns", nanoseconds);
            cycle = before.zip(after).map(|(before, after)| (before + after) / 2.0);
            match cycle {
                Some(cycle) => sample.add("cycles", nanoseconds / cycle),
                None => sample = sample.lacks("cycles", NO_CLOCK),
            }
        }
        let obtained = ring.obtained()?;
        if policy != Policy::Small && obtained.huge() < bytes {
            sample = sample.note(format!(
                "of {}, only {} were obtained on huge pages; free memory is fragmented: stop programs that use much of \
                 it, or as root: echo 1 > /proc/sys/vm/compact_memory",
                present::numbers::human(bytes as f64),
                present::numbers::human(obtained.huge() as f64)
            ));
        }
        let caches: Vec<(u32, u64)> = data(&caches()).map(|cache| (cache.level, cache.bytes)).collect();
        Ok(sample.with_settings(json!({
            "mapped_bytes": ring.mapped_bytes(),
            "huge_bytes": obtained.huge(),
            "core_clock_ghz": cycle.map(|cycle| 1.0 / cycle),
            "caches": caches,
        })))
    })?
}

/// Nanoseconds of a locked instruction on a line that the CPU owns, on the calling thread.
pub(super) fn locked(length: Duration) -> Result<f64> {
    Ok(transfer::alone(length)?.locked)
}

fn alone(length: Duration, repetitions: u32) -> Result<Sample> {
    pin::alone(|| {
        let mut sample = Sample::default();
        for _ in 0..repetitions {
            let alone = transfer::alone(length)?;
            sample.add("locked_ns", alone.locked);
            sample.add("load_ns", alone.load);
            sample.add("store_ns", alone.store);
        }
        Ok::<_, Error>(sample)
    })?
}

#[cfg(test)]
#[path = "mod_test.rs"]
mod test;
