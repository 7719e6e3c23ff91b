//! How long a core keeps a line that it has just got. Real cores serve several of their own locked instructions before they hand a
//! contended line on; how many is published nowhere, so it is chosen by one cell of `atomics`, which is no prediction then.

use super::{increment, layout, simulate};
use crate::simulated::Residency;
use crate::simulated::{measured, whole};
use coherence::machine::{Machine, Picoseconds};
use coherence::programs::counters::{Increment, Layout};
use experiment::results::Results;

/// The cell: one counter, two threads on two cores, `lock xadd`.
pub(super) const THREADS: u32 = 2;
/// No core keeps a line for longer, in picoseconds.
const LONGEST: Picoseconds = 5_000_000;
/// Halvings of the range: to less than 2 ns.
const STEPS: usize = 12;

/// The residency with which that cell comes out, if it was measured and is faster than handing the line on at once.
pub fn calibrate(results: &Results, machine: &Machine) -> Option<Residency> {
    if machine.shape.cores() < THREADS {
        return None;
    }
    let atomics =
        results.experiments.iter().find(|findings| findings.declaration.name == super::super::NAME)?;
    let cell = atomics.cells.iter().find(|cell| {
        increment(cell) == Some(Increment::ExchangeAdd)
            && layout(cell) == Some(Layout::Shared)
            && whole(cell, "threads") == Some(THREADS)
    })?;
    let goal = measured(cell, "ns")?.median;
    let with = |residency| {
        let mut machine = machine.clone();
        machine.costs.residency = residency;
        simulate(&machine, Increment::ExchangeAdd, Layout::Shared, THREADS)
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
        "lock xadd by {THREADS} threads on one counter, {goal:.3} ns in atomics; handed over at once it would be {at_once:.3} ns"
    );
    Some(Residency { residency: high, basis })
}
