//! The cells of `atomics`: native threads that increment one counter, or counters of their own.

use crate::simulated::{Machines, Simulation, beside, measured, options, threads, word};
use experiment::results::{Findings, Origin, SimulatedCell};
pub(crate) mod residency;

use super::{COMPARE_EXCHANGE, LOCK_ADD, LOCK_XADD, NATIVE};
use coherence::machine::{Machine, Picoseconds};
use coherence::programs::counters::{self, Increment, Layout};
use experiment::MeasuredCell;

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
    let layout = of("layout");
    if layout == Layout::Shared.name() {
        return of("operation");
    }
    format!("{}, {}", of("operation"), layout.replace('_', " "))
}

/// Compares what the simulator has a program for.
fn compare(findings: &Findings, machines: &Machines, residency: Option<&str>) -> Vec<SimulatedCell> {
    let compared = |cell: &MeasuredCell| {
        let increment = increment(cell)?;
        let threads = threads(cell, machines)?;
        measured(cell, "ns")?;
        let layout = layout(cell)?;
        let simulated = machines.each(|machine| simulate(machine, increment, layout, threads))?;
        let chosen =
            layout == Layout::Shared && increment == Increment::ExchangeAdd && threads == residency::THREADS;
        let origin = if residency.is_some() && chosen { Origin::Calibrated } else { Origin::Predicted };
        // Who has a line alone never hands it on.
        let basis = residency.filter(|_| threads > 1 && layout != Layout::Padded).unwrap_or(NOTHING);
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

/// Where the counters of a cell are.
pub(super) fn layout(cell: &MeasuredCell) -> Option<Layout> {
    let name = word(cell, "layout")?;
    Layout::ALL.into_iter().find(|layout| layout.name() == name)
}

/// Nanoseconds of wall time for an increment of all threads together.
pub(super) fn simulate(machine: &Machine, increment: Increment, layout: Layout, threads: u32) -> Option<f64> {
    let run = counters::run(machine, increment, layout, &options(threads, LENGTH)).ok()?;
    Some(1e9 / run.per_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_counter_is_makes_no_difference_to_a_thread_that_is_alone() {
        let machine = Machine::named("two-vcpu-epyc").unwrap();
        for increment in [Increment::Add, Increment::ExchangeAdd, Increment::CompareExchange] {
            let alone = |layout| simulate(&machine, increment, layout, 1).unwrap();
            let shared = alone(Layout::Shared);
            assert_eq!([alone(Layout::Padded), alone(Layout::FalseSharing)], [shared; 2], "{increment:?}");
        }
    }

    #[test]
    fn counters_side_by_side_contend_and_padded_ones_do_not() {
        let machine = Machine::named("two-vcpu-epyc").unwrap();
        for increment in [Increment::ExchangeAdd, Increment::CompareExchange] {
            let of = |layout, threads| simulate(&machine, increment, layout, threads).unwrap();
            let alone = of(Layout::Padded, 1);
            let both = of(Layout::Padded, 2);
            assert!((2.0 * both / alone - 1.0).abs() < 0.01, "{increment:?}: {both} of {alone} ns");
            assert!(of(Layout::FalseSharing, 2) > 2.0 * alone, "{increment:?}");
        }
    }
}
