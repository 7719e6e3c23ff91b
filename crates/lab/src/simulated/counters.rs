//! The cells of `atomics`: one counter that native threads share.

use super::{Machines, Origin, SimulatedCell, beside, options, residency, whole, word};
use crate::experiment::MeasuredCell;
use crate::results::Findings;
use coherence::machine::{Machine, Picoseconds};
use coherence::programs::counters::{self, Increment};

/// The layout of one counter for all.
pub(super) const SHARED: &str = "shared";
/// What nothing was chosen by.
const NOTHING: &str = "nothing: the latencies alone";
/// Simulated time in picoseconds: thousands of transfers.
const LENGTH: Picoseconds = 300_000_000;

/// Compares what the simulator has a program for. Threads that take turns on a CPU are left out: they say what turns cost.
pub(super) fn compare(
    findings: &Findings,
    machines: &Machines,
    residency: Option<&str>,
) -> Vec<SimulatedCell> {
    let compared = |cell: &MeasuredCell| {
        let increment = increment(cell)?;
        let threads = whole(cell, "threads")?;
        if word(cell, "layout") != Some(SHARED) || threads > machines.typical.shape.cpus() {
            return None;
        }
        super::measured(cell, "ns")?;
        let simulated = machines.each(|machine| simulate(machine, increment, threads))?;
        let chosen = increment == Increment::ExchangeAdd && threads == residency::THREADS;
        let origin = if residency.is_some() && chosen { Origin::Calibrated } else { Origin::Predicted };
        // One thread never hands its line on.
        let basis = residency.filter(|_| threads > 1).unwrap_or(NOTHING);
        beside(findings, cell, "ns", simulated, origin, basis)
    };
    findings.cells.iter().filter_map(compared).collect()
}

/// The instruction of a native cell.
pub(super) fn increment(cell: &MeasuredCell) -> Option<Increment> {
    if word(cell, "language") != Some("native") {
        return None;
    }
    match word(cell, "operation")? {
        "lock add" => Some(Increment::Add),
        "lock xadd" => Some(Increment::ExchangeAdd),
        "lock cmpxchg loop" => Some(Increment::CompareExchange),
        _ => None,
    }
}

/// Nanoseconds of wall time for an increment of all threads together.
pub(super) fn simulate(machine: &Machine, increment: Increment, threads: u32) -> Option<f64> {
    let run = counters::run(machine, increment, &options(threads, LENGTH)).ok()?;
    Some(1e9 / run.per_second())
}
