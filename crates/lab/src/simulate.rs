//! What a run measured, simulated on a machine of the same shape with the latencies that the same run measured.
//!
//! Where the two agree, the model of coherent caches explains the figure; where they do not, something else decides there. Only then
//! does it say something of other machines. Each experiment has its own simulated counterpart, if any.

use crate::experiments::atomics::simulated::residency;
use crate::experiments::latency::machine as described;
use crate::experiments::simulation;
use crate::simulated::Machines;
use coherence::machine::Machine;
use experiment::results::{Findings, Results, SimulatedCell};
use std::collections::BTreeSet;

/// Everything that can be simulated of a run.
///
/// # Errors
/// Why there is no simulated machine.
pub fn compare(results: &Results) -> Result<Vec<SimulatedCell>, String> {
    let (machine, residency) = calibrated(results)?;
    let machines = Machines::new(machine);
    let mut cells = Vec::new();
    for findings in &results.experiments {
        if let Some(simulation) = simulation(&findings.declaration.name) {
            cells.extend((simulation.compare)(findings, &machines, residency.as_deref()));
        }
    }
    Ok(cells)
}

/// This machine as a file for the simulator, to be kept and changed.
///
/// # Errors
/// Why the run does not describe its machine.
pub fn machine_file(results: &Results) -> Result<String, String> {
    let text = described::file(results)?;
    let plain = described::parse(&text)?;
    Ok(match residency::calibrate(results, &plain) {
        Some(found) => described::with_residency(&text, &found),
        None => text,
    })
}

/// This machine, as far as the run describes it.
///
/// # Errors
/// Why the run does not describe its machine.
pub fn machine(results: &Results) -> Result<Machine, String> {
    described::parse(&described::file(results)?)
}

/// The machine, and what its residency was calibrated on.
fn calibrated(results: &Results) -> Result<(Machine, Option<String>), String> {
    let mut machine = machine(results)?;
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
    let simulable = |findings: &Findings| simulation(&findings.declaration.name).is_some();
    if !results.experiments.iter().any(simulable) {
        return None;
    }
    machine(results).err()
}

/// What a simulated cell is of, without its threads.
pub fn name(cell: &SimulatedCell) -> String {
    match simulation(&cell.experiment) {
        Some(simulation) => (simulation.name)(cell),
        None => format!("{}: {}", cell.experiment, experiment::value::name(&cell.parameters)),
    }
}

/// What a reader must know to judge these cells' agreement, once for each experiment.
pub fn caveats(cells: &[SimulatedCell]) -> impl Iterator<Item = &'static str> {
    let names: BTreeSet<&str> = cells.iter().map(|cell| cell.experiment.as_str()).collect();
    let caveats: Vec<&str> = names.into_iter().filter_map(|name| Some(simulation(name)?.caveat)).collect();
    caveats.into_iter().filter(|caveat| !caveat.is_empty())
}

#[cfg(test)]
#[path = "simulate_test.rs"]
mod test;
