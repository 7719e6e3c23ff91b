//! What a simulated counterpart of an experiment needs: the machine with its ranges, and a measured cell beside a simulated one.

use coherence::machine::{Machine, Picoseconds};
use coherence::programs::Options;
use experiment::results::{Findings, Origin, SimulatedCell};
use experiment::{MeasuredCell, Quantity};
use statistics::Interval;
use std::ops::RangeInclusive;

/// A simulated value within this share of the measured one agrees with it.
pub const AGREEMENT: f64 = 0.25;
/// Cells of more threads are left out: a report is to be there within seconds.
const MOST_THREADS: u32 = 32;
/// Work for an object is kept within this, in cycles: a thread whose objects take no time would never come to an end, nor would one
/// with a figure that cannot be.
const WORK: RangeInclusive<f64> = 0.25..=1e6;
/// The seed of every simulation: the same results give the same values.
const SEED: u64 = 1;

/// How long a core keeps a contended line, and the cell that this was chosen by.
pub struct Residency {
    /// In picoseconds.
    pub residency: Picoseconds,
    /// For the machine's file and the report.
    pub basis: String,
}

/// How the cells of an experiment are simulated.
#[derive(Clone, Copy)]
pub struct Simulation {
    /// Simulates the cells that it has a program for. The text is on what the machine's residency was calibrated.
    pub compare: fn(&Findings, &Machines, Option<&str>) -> Vec<SimulatedCell>,
    /// What a cell is of, without its threads.
    pub name: fn(&SimulatedCell) -> String,
    /// What a reader must know to judge the agreement; may be empty.
    pub caveat: &'static str,
}

/// The same machine three times: with the transfers that are typical, the fastest, and the slowest that the run met.
pub struct Machines {
    /// With typical transfers.
    pub typical: Machine,
    fastest: Machine,
    slowest: Machine,
}

impl Machines {
    pub(crate) fn new(mut typical: Machine) -> Machines {
        // No run measures what memory carries: what it takes of new objects is in the work, which is calibrated on one thread.
        typical.bandwidth.last_cache = f64::INFINITY;
        let fastest = with_transfers(&typical, |low, _| low);
        let slowest = with_transfers(&typical, |_, high| high);
        Machines { typical, fastest, slowest }
    }

    /// What a simulation gives on each of them: the typical one, the least and the most.
    pub(crate) fn each(&self, simulate: impl Fn(&Machine) -> Option<f64>) -> Option<[f64; 3]> {
        let typical = simulate(&self.typical)?;
        let (fastest, slowest) = (simulate(&self.fastest)?, simulate(&self.slowest)?);
        Some([typical, typical.min(fastest).min(slowest), typical.max(fastest).max(slowest)])
    }
}

/// The machine with another end of the transfers' ranges.
fn with_transfers(machine: &Machine, end: impl Fn(f64, f64) -> f64) -> Machine {
    let mut other = machine.clone();
    let costs = &mut other.costs;
    let transfers = [
        ("costs.transfer_cluster", &mut costs.transfer_cluster),
        ("costs.transfer_package", &mut costs.transfer_package),
        ("costs.transfer_remote", &mut costs.transfer_remote),
    ];
    for (key, cost) in transfers {
        if let Some((low, high)) = machine.figure(key).and_then(|figure| figure.low.zip(figure.high)) {
            // The file has them in nanoseconds.
            *cost = (end(low, high) * 1e3).round() as Picoseconds;
        }
    }
    other
}

/// Options of a simulation: pinned threads, nothing kept one by one.
pub(crate) fn options(threads: u32, length: Picoseconds) -> Options {
    Options { threads, pinned: true, seed: SEED, length, events: 0 }
}

/// The threads of a cell, if each has a CPU of its own: who takes turns measures what turns cost.
pub(crate) fn threads(cell: &MeasuredCell, machines: &Machines) -> Option<u32> {
    whole(cell, "threads").filter(|threads| *threads <= machines.typical.shape.cpus().min(MOST_THREADS))
}

/// A metric of a cell, if it was measured and is a positive number.
pub(crate) fn measured(cell: &MeasuredCell, metric: &str) -> Option<Interval> {
    cell.metrics.get(metric).and_then(Quantity::interval).filter(|interval| interval.median > 0.0)
}

/// Cycles of work for an object, within [`WORK`].
pub(crate) fn bearable(cycles: f64) -> f64 {
    cycles.clamp(*WORK.start(), *WORK.end())
}

/// A whole number among a cell's values.
pub(crate) fn whole(cell: &MeasuredCell, key: &str) -> Option<u32> {
    let number = cell.parameters.get(key)?.number()?;
    (number >= 1.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0).then_some(number as u32)
}

/// A word among a cell's values.
pub(crate) fn word<'a>(cell: &'a MeasuredCell, key: &str) -> Option<&'a str> {
    match cell.parameters.get(key)? {
        experiment::Value::Text(text) => Some(text),
        experiment::Value::Number(_) => None,
    }
}

/// Puts the two beside each other.
pub(crate) fn beside(
    findings: &Findings,
    cell: &MeasuredCell,
    metric: &str,
    [simulated, low, high]: [f64; 3],
    origin: Origin,
    basis: &str,
) -> Option<SimulatedCell> {
    let measured = measured(cell, metric)?;
    let ratio = simulated / measured.median;
    ratio.is_finite().then(|| SimulatedCell {
        experiment: findings.declaration.name.clone(),
        parameters: cell.parameters.clone(),
        metric: metric.into(),
        unit: findings.declaration.metric(metric).map(|metric| metric.unit.clone()).unwrap_or_default(),
        measured,
        simulated,
        low,
        high,
        ratio,
        agrees: (ratio - 1.0).abs() <= AGREEMENT,
        origin,
        basis: basis.into(),
    })
}
