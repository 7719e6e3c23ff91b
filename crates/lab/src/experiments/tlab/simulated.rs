//! The cells of `tlab` with the parallel collector: objects from thread buffers, from the shared heap, and from core buffers.
//!
//! What a thread does for an object besides its accesses (the call into the virtual machine, initialising) is calibrated on the cell of
//! one thread with the same JDK, size and buffers; what more threads make of it is predicted.

use super::{CORE, NONE, PARALLEL, TLAB, YOUNG};
use crate::simulated::{Machines, Simulation, bearable, beside, measured, options, threads, whole, word};
use coherence::machine::{Machine, Picoseconds};
use coherence::programs::allocate::{
    self, Allocation, Collector, Domain, Hierarchy, Mutator, Rank, SHAPE, Tlab,
};
use experiment::results::{Findings, Origin, SimulatedCell};
use experiment::{MeasuredCell, Parameters};
use hab::sizing::automatic;

/// Simulated time in picoseconds: more than a thousand objects even where threads contend for each.
const LENGTH: Picoseconds = 200_000_000;
/// Eden in bytes: three quarters of the experiment's young generation.
const EDEN: usize = (YOUNG << 20) / 4 * 3;

pub const SIMULATION: Simulation = Simulation { compare, name, caveat: "" };

fn name(cell: &SimulatedCell) -> String {
    let of = |key: &str| cell.parameters.get(key).map(ToString::to_string).unwrap_or_default();
    let buffers = if of("buffers") == NONE { "no buffers".into() } else { of("buffers") };
    format!("{} B, {buffers}, JDK {}", of("bytes"), of("jdk"))
}

/// Compares cells whose own program was measured with one thread.
fn compare(findings: &Findings, machines: &Machines, _: Option<&str>) -> Vec<SimulatedCell> {
    let compared = |cell: &MeasuredCell| {
        let threads = threads(cell, machines)?;
        if word(cell, "collector") != Some(PARALLEL) {
            return None;
        }
        measured(cell, "ns")?;
        let alone = findings.cells.iter().find(|other| alone(other, &cell.parameters))?;
        let program = program(cell, &machines.typical)?;
        let work = work(&program, &machines.typical, measured(alone, "ns")?.median)?;
        let program = with_work(&program, work);
        let simulated = machines.each(|machine| simulate(machine, &program, threads))?;
        let origin = if threads == 1 { Origin::Calibrated } else { Origin::Predicted };
        let basis = format!("{work:.1} cycles of work per object, from the cell of one thread");
        beside(findings, cell, "ns", simulated, origin, &basis)
    };
    findings.cells.iter().filter_map(compared).collect()
}

/// Whether a cell is that of one thread and otherwise has the same values.
fn alone(cell: &MeasuredCell, parameters: &Parameters) -> bool {
    let same = |(key, value): (&String, _)| key == "threads" || parameters.get(key) == Some(value);
    whole(cell, "threads") == Some(1) && measured(cell, "ns").is_some() && cell.parameters.iter().all(same)
}

fn program(cell: &MeasuredCell, machine: &Machine) -> Option<Allocation> {
    let cores = machine.shape.cores() as usize;
    let buffer = automatic(EDEN, cores, EDEN, SHAPE);
    let (tlab, hierarchy) = match word(cell, "buffers")? {
        TLAB => (Tlab::Growing, Hierarchy::None),
        NONE => (Tlab::None, Hierarchy::None),
        CORE => (Tlab::None, Hierarchy::Levels(vec![Rank { domain: Domain::Core, bytes: buffer }])),
        _ => return None,
    };
    Some(Allocation {
        tlab,
        hierarchy,
        eden: EDEN,
        collector: Collector::Parallel,
        mutator: Mutator::constant(whole(cell, "bytes")?, 0.0, 0.0),
        refill_cycles: 0.0,
        heap_cycles: 0.0.into(),
        pause: 0,
    })
}

fn with_work(program: &Allocation, cycles: f64) -> Allocation {
    let mut program = program.clone();
    program.mutator.object_cycles = cycles;
    program
}

/// Cycles of work for an object with which one thread takes `goal` nanoseconds for it: what its accesses leave.
fn work(program: &Allocation, machine: &Machine, goal: f64) -> Option<f64> {
    let guess = bearable(goal * machine.clock_ghz);
    let simulated = simulate(machine, &with_work(program, guess), 1)?;
    Some(bearable(guess - (simulated - goal) * machine.clock_ghz))
}

/// Nanoseconds that a thread spends on an object.
fn simulate(machine: &Machine, program: &Allocation, threads: u32) -> Option<f64> {
    let allocated = allocate::run(machine, program, &options(threads, LENGTH)).ok()?;
    Some(f64::from(threads) * 1e9 / allocated.run.per_second())
}
