//! Opsian, "Why Java's TLABs are so important" (2020): `new Object()` without thread buffers.

use super::setting::Setting;
use super::{Finding, Limit, Role, published};
use crate::machine::Machine;
use crate::programs::Options;
use crate::programs::allocate::{self, Allocated, Allocation, Collector, Hierarchy, Mutator, Tlab};
use std::io;

const SOURCE: &str = "Opsian 2020";
/// The bytes of an `Object`.
const OBJECT: u32 = 16;

fn run(setting: &Setting, machine: &Machine, threads: u32, cycles: f64) -> io::Result<Allocated> {
    let allocation = Allocation {
        tlab: Tlab::None,
        hierarchy: Hierarchy::None,
        eden: 1 << 40,
        collector: Collector::Parallel,
        mutator: Mutator::constant(OBJECT, cycles, 0.0),
        refill_cycles: 0.0,
        // Compiled code does it by itself.
        heap_cycles: 0.0.into(),
        pause: 0,
    };
    let options = Options { threads, pinned: true, seed: setting.seed, length: 2_000_000_000, events: 0 };
    allocate::run(machine, &allocation, &options)
}

pub(super) fn evaluate(setting: &Setting) -> io::Result<Vec<Finding>> {
    let machine = setting.machine("opsian-haswell");
    // The rest of the loop: what one thread takes longer than the accesses alone.
    let bare = run(setting, &machine, 1, 0.0)?.run.per_second() / 1e6;
    let (one_published, _) = published::value("opsian-one");
    let cycles = (1e3 / one_published - 1e3 / bare) * machine.clock_ghz;
    let one = run(setting, &machine, 1, cycles)?;
    let four = run(setting, &machine, 4, cycles)?;
    let rate = |allocated: &Allocated| allocated.run.per_second() / 1e6;
    let objects = four.run.operations as f64;
    // The source counts loads: a compare-and-swap that takes the modified line for writing is not among them.
    let modified: u64 = (four.run.outcome.traffic.lines.iter())
        .filter(|line| line.name == "heap: top")
        .map(|line| line.modified_reads)
        .sum();
    let finding = |what: &str, role, published, simulated| Finding {
        source: SOURCE.into(),
        what: what.into(),
        role,
        published: Some(published),
        simulated,
        limit: Limit::Within(0.25),
        range: None,
    };
    let four_over_one = published::value("opsian-four").0 / one_published;
    let of = |key, what: &str, simulated| {
        let (published, role) = published::value(key);
        finding(what, role, published, simulated)
    };
    Ok(vec![
        of("opsian-one", "1 thread, million objects per second", rate(&one)),
        of("opsian-four", "4 threads, million objects per second", rate(&four)),
        finding("4 threads over 1 thread", Role::Predicted, four_over_one, rate(&four) / rate(&one)),
        of(
            "opsian-retries",
            "4 threads, failed compare-and-swaps per object",
            four.run.lost as f64 / objects,
        ),
        of(
            "opsian-hitm",
            "4 threads, loads that hit a modified line (HITM) per object",
            modified as f64 / objects,
        ),
    ])
}
