//! What a run measured, simulated on a machine of the same shape with the latencies that the same run measured.
//!
//! Where the two agree, the model of coherent caches explains the figure; where they do not, something else decides there. Only then
//! does it say something of machines that are not at hand.
//!
//! | part | what it is |
//! |---|---|
//! | [`machine`] | this machine as a file for the simulator, from the cells of `latency` |
//! | `residency` | how long a core keeps a contended line: calibrated on a cell of `atomics` |
//! | `counters`, `own_counters` | the cells of `atomics` |
//! | `objects` | the cells of `tlab` |
//! | `javac` | the cells of `hab` |

mod counters;
mod javac;
pub mod machine;
mod objects;
mod own_counters;
mod residency;

use crate::experiment::{MeasuredCell, Parameters, Quantity};
use crate::results::{Findings, Results};
use statistics::Interval;
use coherence::machine::{Machine, Picoseconds};
use coherence::programs::Options;
use serde::{Deserialize, Serialize};
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

/// A cell that was measured and simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimulatedCell {
    /// The experiment's name.
    pub experiment: String,
    /// The cell's values.
    pub parameters: Parameters,
    /// The metric's key.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Measured: the median with its interval, in `unit`.
    pub measured: Interval,
    /// Simulated, in `unit`.
    pub simulated: f64,
    /// The least that is simulated when lines move as fast as the fastest transfer of the run, or as slowly as the slowest, in `unit`.
    pub low: f64,
    /// The most of it, in `unit`.
    pub high: f64,
    /// Simulated over measured.
    pub ratio: f64,
    /// Whether the ratio is within [`AGREEMENT`] of 1.
    pub agrees: bool,
    /// Whether the value says anything.
    pub origin: Origin,
    /// On what something was calibrated.
    pub basis: String,
}

/// Whether a simulated value says anything of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Something was chosen so that this very cell comes out: it agrees by construction.
    Calibrated,
    /// Nothing was chosen by this cell.
    Predicted,
}

impl Origin {
    /// As shown.
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Calibrated => "calibrated",
            Origin::Predicted => "predicted",
        }
    }
}

/// The same machine three times: with the transfers that are typical, the fastest, and the slowest that the run met.
struct Machines {
    typical: Machine,
    fastest: Machine,
    slowest: Machine,
}

impl Machines {
    fn new(typical: Machine) -> Machines {
        let fastest = with_transfers(&typical, |low, _| low);
        let slowest = with_transfers(&typical, |_, high| high);
        Machines { typical, fastest, slowest }
    }

    /// What a simulation gives on each of them: the typical one, the least and the most.
    fn each(&self, simulate: impl Fn(&Machine) -> Option<f64>) -> Option<[f64; 3]> {
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
fn options(threads: u32, length: Picoseconds) -> Options {
    Options { threads, pinned: true, seed: SEED, length, events: 0 }
}

/// The threads of a cell, if each has a CPU of its own: who takes turns measures what turns cost.
fn threads(cell: &MeasuredCell, machines: &Machines) -> Option<u32> {
    whole(cell, "threads").filter(|threads| *threads <= machines.typical.shape.cpus().min(MOST_THREADS))
}

/// Everything that can be simulated of a run.
///
/// # Errors
/// Why there is no simulated machine.
pub fn compare(results: &Results) -> Result<Vec<SimulatedCell>, String> {
    let (machine, residency) = calibrated(results)?;
    let machines = Machines::new(machine);
    let mut cells = Vec::new();
    for findings in &results.experiments {
        match findings.declaration.name.as_str() {
            "atomics" => cells.extend(counters::compare(findings, &machines, residency.as_deref())),
            "tlab" => cells.extend(objects::compare(findings, &machines)),
            "hab" => cells.extend(javac::compare(findings, &machines)),
            _ => {}
        }
    }
    Ok(cells)
}

/// This machine as a file for the simulator, to be kept and changed.
///
/// # Errors
/// Why the run does not describe its machine.
pub fn machine_file(results: &Results) -> Result<String, String> {
    let text = machine::file(results)?;
    let plain = machine::parse(&text)?;
    Ok(match residency::calibrate(results, &plain) {
        Some(found) => machine::with_residency(&text, &found),
        None => text,
    })
}

/// The machine, and what its residency was calibrated on.
fn calibrated(results: &Results) -> Result<(Machine, Option<String>), String> {
    let mut machine = machine::parse(&machine::file(results)?)?;
    let found = residency::calibrate(results, &machine);
    if let Some(found) = &found {
        machine.costs.residency = found.residency;
    }
    Ok((machine, found.map(|found| found.basis)))
}

/// Simulates what can be simulated of a run and puts it into the results; nothing where there is no machine to simulate.
pub fn fill(results: &mut Results) {
    results.simulated = match lacking(results) {
        None => compare(results).unwrap_or_default(),
        Some(_) => Vec::new(),
    };
}

/// Why a run that has cells to simulate has nothing simulated, with the remedy; nothing if it has, or has no such cells.
pub fn lacking(results: &Results) -> Option<String> {
    let simulable =
        |findings: &Findings| ["atomics", "tlab", "hab"].contains(&findings.declaration.name.as_str());
    if !results.experiments.iter().any(simulable) {
        return None;
    }
    machine::file(results).and_then(|text| machine::parse(&text)).err()
}

/// A metric of a cell, if it was measured and is a positive number.
fn measured(cell: &MeasuredCell, metric: &str) -> Option<Interval> {
    cell.metrics.get(metric).and_then(Quantity::interval).filter(|interval| interval.median > 0.0)
}

/// Cycles of work for an object, within [`WORK`].
fn bearable(cycles: f64) -> f64 {
    cycles.clamp(*WORK.start(), *WORK.end())
}

/// A whole number among a cell's values.
fn whole(cell: &MeasuredCell, key: &str) -> Option<u32> {
    let number = cell.parameters.get(key)?.number()?;
    (number >= 1.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0).then_some(number as u32)
}

/// A word among a cell's values.
fn word<'a>(cell: &'a MeasuredCell, key: &str) -> Option<&'a str> {
    match cell.parameters.get(key)? {
        crate::experiment::Value::Text(text) => Some(text),
        crate::experiment::Value::Number(_) => None,
    }
}

/// Puts the two beside each other.
fn beside(
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

#[cfg(test)]
#[path = "compare_test.rs"]
mod test;
