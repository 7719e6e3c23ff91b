//! The same paper's Tables I and II: foreign allocations, in percent of all requests to buffers.
//!
//! They come from migrations, from refills under way, and, the most of them, from the end of eden: whose buffer cannot be refilled
//! any more goes on to the others. The paper does not say whether that is so, so three ways are simulated: [`UsedUp`].

use super::paper::{EDEN, SOURCE, THREADS, mutator};
use super::{Finding, Limit, Role, machine};
use crate::constants;
use crate::machine::Machine;
use crate::programs::Options;
use crate::programs::allocate::{self, Allocation, Collector, Domain, Hierarchy, Rank, Tlab, UsedUp};
use crate::sweep;
use hab::Counter;
use std::io;

const MB: usize = 1 << 20;
const TABLE_1: [(&str, Tlab, [f64; 5]); 9] = [
    ("none", Tlab::None, [0.32, 0.33, 0.51, 0.94, 1.93]),
    ("1 KB", Tlab::Bytes(1 << 10), [0.11, 0.06, 0.09, 0.05, 0.15]),
    ("4 KB", Tlab::Bytes(4 << 10), [0.11, 0.06, 0.06, 0.06, 0.19]),
    ("8 KB", Tlab::Bytes(8 << 10), [0.13, 0.10, 0.08, 0.10, 0.29]),
    ("16 KB", Tlab::Bytes(16 << 10), [0.10, 0.08, 0.11, 0.08, 0.12]),
    ("32 KB", Tlab::Bytes(32 << 10), [0.11, 0.08, 0.08, 0.11, 0.30]),
    ("64 KB", Tlab::Bytes(64 << 10), [0.22, 0.15, 0.16, 0.29, 0.45]),
    ("128 KB", Tlab::Bytes(128 << 10), [0.52, 0.47, 0.63, 1.31, 2.60]),
    ("growing", Tlab::Growing, [0.55, 0.47, 0.64, 1.10, 2.23]),
];
const TABLE_2: [(&str, Tlab, [Option<f64>; 4]); 6] = [
    ("1 KB", Tlab::Bytes(1 << 10), [Some(0.00), Some(0.01), Some(0.05), Some(0.07)]),
    ("4 KB", Tlab::Bytes(4 << 10), [Some(0.01), Some(0.01), Some(0.06), Some(0.15)]),
    ("16 KB", Tlab::Bytes(16 << 10), [Some(0.01), Some(0.02), Some(0.07), Some(0.13)]),
    ("64 KB", Tlab::Bytes(64 << 10), [Some(0.03), Some(0.03), Some(0.10), Some(0.17)]),
    ("128 KB", Tlab::Bytes(128 << 10), [Some(0.06), Some(0.05), Some(0.15), Some(0.26)]),
    ("growing", Tlab::Growing, [None, None, Some(1.42), Some(2.81)]),
];
const PROCESSOR_MB: [usize; 5] = [4, 8, 16, 32, 64];
const CORE_BYTES: [usize; 4] = [MB / 2, MB, 8 * MB, 16 * MB];
/// Migrations of a thread in a second: a few, as on a loaded Linux. Foreign allocations from them are too few to matter here.
const MIGRATIONS: f64 = 5.0;
/// Edens that are used up in a run.
const EDENS: f64 = 2.0;
/// Where every object is a request, eden and buffers are so much smaller: their ratio is what counts at the end of eden.
const SMALLER: usize = 256;

struct Cell {
    what: String,
    tlab: Tlab,
    rank: Rank,
    published: f64,
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (name, tlab, row) in TABLE_1 {
        for (size, published) in PROCESSOR_MB.into_iter().zip(row) {
            let rank = Rank { domain: Domain::Package, bytes: size * MB };
            cells.push(Cell { what: format!("Table I, {name}, {size} MB"), tlab, rank, published });
        }
    }
    for (name, tlab, row) in TABLE_2 {
        for (bytes, published) in CORE_BYTES.into_iter().zip(row) {
            let Some(published) = published else { continue };
            let rank = Rank { domain: Domain::Core, bytes };
            let size = bytes as f64 / MB as f64;
            cells.push(Cell { what: format!("Table II, {name}, {size} MB"), tlab, rank, published });
        }
    }
    cells
}

/// Percent of foreign requests.
fn foreign(machine: &Machine, tlab: Tlab, rank: Rank, used_up: UsedUp) -> io::Result<f64> {
    let smaller = if tlab == Tlab::None { SMALLER } else { 1 };
    let eden = EDEN / smaller;
    let mutator = mutator();
    // As if nobody ever waited; who waits gets less far.
    let object =
        mutator.object_cycles * machine.costs.work_scale / machine.clock_ghz * machine.costs.sibling_work;
    let bytes_per_second = f64::from(THREADS) * mutator.mean_bytes() / (object * 1e-9);
    let slower = if tlab == Tlab::None { 8.0 } else { 1.0 };
    let length = EDENS * slower * eden as f64 / bytes_per_second * 1e12;
    let allocation = Allocation {
        tlab,
        hierarchy: Hierarchy::Paper(Rank { bytes: rank.bytes / smaller, ..rank }, used_up),
        eden,
        collector: Collector::Parallel,
        mutator,
        refill_cycles: constants::REFILL.value,
        heap_cycles: constants::HEAP.value,
        pause: 0,
    };
    let options = Options { threads: THREADS, pinned: false, seed: 1, length: length as u64, events: 0 };
    let allocated = allocate::run(machine, &allocation, &options)?;
    let [count, foreign] =
        [Counter::Buffers, Counter::Foreign].map(|counter| allocated.levels[0].get(counter) as f64);
    Ok(100.0 * foreign / count.max(1.0))
}

pub(super) fn evaluate(progress: &(dyn Fn(&str) + Sync)) -> io::Result<Vec<Finding>> {
    let mut machine = machine("paper-4x10x2");
    machine.costs.migration_rate = MIGRATIONS;
    let cells = cells();
    let work: Vec<(usize, UsedUp)> = [UsedUp::NextBuffer, UsedUp::OneMore, UsedUp::Collect]
        .into_iter()
        .flat_map(|used_up| (0..cells.len()).map(move |cell| (cell, used_up)))
        .collect();
    let done = |count: usize| progress(&format!("Tables I and II: {count} of {}", work.len()));
    let found = sweep::each(&work, done, |(cell, used_up)| {
        let cell = &cells[*cell];
        foreign(&machine, cell.tlab, cell.rank, *used_up)
    });
    let mut findings = Vec::new();
    for ((cell, used_up), found) in work.into_iter().zip(found) {
        let simulated = found?;
        let cell = &cells[cell];
        let policy = match used_up {
            UsedUp::NextBuffer => "the next buffer serves when eden is full",
            UsedUp::OneMore => "one more buffer serves when eden is full",
            UsedUp::Collect => "a collection begins when eden is full",
        };
        findings.push(Finding {
            source: SOURCE.into(),
            what: format!("{}: foreign %, {policy}", cell.what),
            role: Role::Predicted,
            published: Some(cell.published),
            simulated,
            limit: Limit::Factor(3.0),
        });
    }
    Ok(findings)
}
