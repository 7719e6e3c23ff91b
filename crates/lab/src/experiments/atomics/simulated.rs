//! The cells of `atomics`: native threads that increment one counter, or counters of their own.

use crate::simulated::{Machines, Simulation, beside, measured, options, threads, word};
use experiment::results::{Findings, Origin, SimulatedCell};
mod own_counters;
pub(crate) mod residency;

use super::{COMPARE_EXCHANGE, LOCK_ADD, LOCK_XADD, NATIVE};
use crate::counting::Layout;
use coherence::machine::{Machine, Picoseconds};
use coherence::programs::counters::{self, Increment};
use experiment::MeasuredCell;

/// The layout of one counter for all.
pub(super) const SHARED: &str = Layout::Shared.name();
/// That of counters on lines of their own.
const PADDED: &str = Layout::Padded.name();
/// That of counters of their own, side by side.
const FALSELY_SHARED: &str = Layout::FalseSharing.name();
/// What nothing was chosen by.
const NOTHING: &str = "nothing: the latencies alone";
/// Simulated time in picoseconds: thousands of transfers.
const LENGTH: Picoseconds = 200_000_000;

pub const SIMULATION: Simulation = Simulation {
    compare,
    name,
    caveat: "Not every prediction is a strong test. A counter that a thread has to itself repeats what the latency \
             experiment measured, and lock add or false sharing by two threads moves the line as the calibration cell \
             does. The compare-and-exchange loop, more threads, and objects test the model.",
};

fn name(cell: &SimulatedCell) -> String {
    let of = |key: &str| cell.parameters.get(key).map(ToString::to_string).unwrap_or_default();
    match of("layout").as_str() {
        SHARED => of("operation"),
        layout => format!("{}, {}", of("operation"), layout.replace('_', " ")),
    }
}

/// Compares what the simulator has a program for.
fn compare(findings: &Findings, machines: &Machines, residency: Option<&str>) -> Vec<SimulatedCell> {
    let compared = |cell: &MeasuredCell| {
        let increment = increment(cell)?;
        let threads = threads(cell, machines)?;
        measured(cell, "ns")?;
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
    if word(cell, "language") != Some(NATIVE) {
        return None;
    }
    match word(cell, "operation")? {
        LOCK_ADD => Some(Increment::Add),
        LOCK_XADD => Some(Increment::ExchangeAdd),
        COMPARE_EXCHANGE => Some(Increment::CompareExchange),
        _ => None,
    }
}

/// Nanoseconds of wall time for an increment of all threads together.
pub(super) fn simulate(machine: &Machine, increment: Increment, threads: u32) -> Option<f64> {
    let run = counters::run(machine, increment, &options(threads, LENGTH)).ok()?;
    Some(1e9 / run.per_second())
}
