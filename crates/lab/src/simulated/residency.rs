//! How long a core keeps a line that it has just got. Real cores serve several of their own locked instructions before they hand a
//! contended line on; how many is published nowhere, so it is chosen by one cell of `atomics`, which is no prediction then.

use super::{counters, measured, whole, word};
use crate::results::Results;
use coherence::machine::{Machine, Picoseconds};
use coherence::programs::counters::Increment;

/// A residency and the cell that it was chosen by.
pub(super) struct Found {
    /// In picoseconds.
    pub(super) residency: Picoseconds,
    /// For the machine's file and the report.
    pub(super) basis: String,
}

/// The cell: one counter, two threads on two cores, `lock xadd`.
pub(super) const THREADS: u32 = 2;
/// No core keeps a line for longer, in picoseconds.
const LONGEST: Picoseconds = 5_000_000;
/// Halvings of the range: to less than 2 ns.
const STEPS: usize = 12;

/// The residency with which that cell comes out, if it was measured and is faster than handing the line on at once.
pub(super) fn calibrate(results: &Results, machine: &Machine) -> Option<Found> {
    if machine.shape.cores() < THREADS {
        return None;
    }
    let atomics = results.experiments.iter().find(|findings| findings.declaration.name == "atomics")?;
    let cell = atomics.cells.iter().find(|cell| {
        counters::increment(cell) == Some(Increment::ExchangeAdd)
            && word(cell, "layout") == Some(counters::SHARED)
            && whole(cell, "threads") == Some(THREADS)
    })?;
    let goal = measured(cell, "ns")?.median;
    let with = |residency| {
        let mut machine = machine.clone();
        machine.costs.residency = residency;
        counters::simulate(&machine, Increment::ExchangeAdd, THREADS)
    };
    let at_once = with(0)?;
    let (mut low, mut high) = (0, LONGEST);
    if at_once <= goal || with(high)? > goal {
        return None;
    }
    for _ in 0..STEPS {
        let middle = u64::midpoint(low, high);
        // The longer it stays, the less a line travels.
        if with(middle)? > goal { low = middle } else { high = middle }
    }
    let basis = format!(
        "lock xadd by {THREADS} threads on one counter, {goal:.3} ns in atomics; handed on at once it would be {at_once:.3} ns"
    );
    Some(Found { residency: high, basis })
}
