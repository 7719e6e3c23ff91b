//! The cells of `atomics`: native threads that increment one counter, or counters of their own.

use super::{Machines, Origin, SimulatedCell, beside, options, own_counters, residency, word};
use crate::experiment::MeasuredCell;
use crate::results::Findings;
use coherence::machine::{Machine, Picoseconds};
use coherence::programs::counters::{self, Increment};

/// The layout of one counter for all.
pub(super) const SHARED: &str = "shared";
/// That of counters on lines of their own.
const PADDED: &str = "padded";
/// That of counters of their own, side by side.
const FALSELY_SHARED: &str = "false_sharing";
/// What nothing was chosen by.
const NOTHING: &str = "nothing: the latencies alone";
/// Simulated time in picoseconds: thousands of transfers.
const LENGTH: Picoseconds = 200_000_000;

/// Compares what the simulator has a program for.
pub(super) fn compare(
    findings: &Findings,
    machines: &Machines,
    residency: Option<&str>,
) -> Vec<SimulatedCell> {
    let compared = |cell: &MeasuredCell| {
        let increment = increment(cell)?;
        let threads = super::threads(cell, machines)?;
        super::measured(cell, "ns")?;
        let layout = word(cell, "layout")?;
        let simulated = machines.each(|machine| match layout {
            SHARED => simulate(machine, increment, threads),
            PADDED => own_counters::simulate(machine, increment, threads, false, LENGTH),
            FALSELY_SHARED => own_counters::simulate(machine, increment, threads, true, LENGTH),
            _ => None,
        })?;
        let chosen = layout == SHARED && increment == Increment::ExchangeAdd && threads == residency::THREADS;
        let origin = if residency.is_some() && chosen { Origin::Calibrated } else { Origin::Predicted };
        // Who has a line alone never hands it on.
        let basis = residency.filter(|_| threads > 1 && layout != PADDED).unwrap_or(NOTHING);
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
