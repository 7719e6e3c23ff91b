//! The cells of `hab`: `javac` in several threads, with TLABs of a fixed size, buffers on and off.
//!
//! How much `javac` allocates is known from its collections; how much work it does for that is calibrated on the JVM with growing
//! TLABs, in its windows without buffers. Everything else is predicted.

use super::{GROWING, PAPER_YOUNG};
use crate::simulated::{Machines, Simulation, bearable, beside, measured, options, threads, word};
use coherence::constants;
use coherence::machine::{Machine, Picoseconds};
use coherence::programs::allocate::{self, Allocation, Collector, Domain, Hierarchy, Mutator, Rank, Tlab};
use experiment::MeasuredCell;
use experiment::results::{Findings, Origin, SimulatedCell};
use jvm::size;

/// Simulated time in picoseconds: a thousand refills of the smallest TLABs for each thread.
const LENGTH: Picoseconds = 2_000_000_000;
/// Assumed mean size of `javac`'s objects in bytes. With fixed bytes in a second it only decides how a TLAB's end falls.
const OBJECT_BYTES: u32 = 48;
/// In bytes. No run has less; in less the threads would do nothing but collect.
const SMALLEST_EDEN: usize = 1 << 20;
pub const SIMULATION: Simulation = Simulation {
    compare,
    name,
    caveat: "A speed-up near 1 is easily predicted within 25 %: check whether both are on the same side of 1. For javac, \
             objects are assumed to have 48 bytes.",
};

fn name(cell: &SimulatedCell) -> String {
    let of = |key: &str| cell.parameters.get(key).map(ToString::to_string).unwrap_or_default();
    let switch = if cell.metric == "speedup" { "on/off" } else { "off" };
    format!("TLAB {}, {} {} {switch}", of("tlab"), of("level"), of("size"))
}

/// Compares the rate without buffers and the speed-up by buffers.
fn compare(findings: &Findings, machines: &Machines, _: Option<&str>) -> Vec<SimulatedCell> {
    findings.cells.iter().filter_map(|cell| both(findings, cell, machines)).flatten().collect()
}

fn both(findings: &Findings, cell: &MeasuredCell, machines: &Machines) -> Option<Vec<SimulatedCell>> {
    let threads = threads(cell, machines)?;
    let growing = findings.cells.iter().find(|other| is_growing(other, cell))?;
    let base = measured(growing, "rate_off")?.median;
    let (domain, bytes) = buffer(cell)?;
    // The plan divides the paper's heap and buffers by one factor.
    let scale = size::parse(word(cell, "size")?).ok()? / bytes as u64;
    let eden = (PAPER_YOUNG / scale.max(1) / 4 * 3) as usize;
    if eden < SMALLEST_EDEN {
        return None;
    }
    let tlab = match word(cell, "tlab")? {
        GROWING => Tlab::Growing,
        bytes => Tlab::Bytes(size::parse(bytes).ok()? as usize),
    };
    let goal = base / 1e6 * measured(growing, "collections_off")?.median * eden as f64;
    let program = |tlab, hierarchy, work| Allocation {
        tlab,
        hierarchy,
        eden,
        collector: Collector::Parallel,
        mutator: Mutator::constant(OBJECT_BYTES, work, 0.0),
        refill_cycles: constants::REFILL.value,
        heap_cycles: constants::HEAP.value.into(),
        pause: 0,
    };
    let per_second = |machine: &Machine, program: &Allocation| {
        Some(allocate::run(machine, program, &options(threads, LENGTH)).ok()?.run.per_second())
    };
    // With large TLABs time is work but for next to nothing.
    let nanoseconds = f64::from(threads) * f64::from(OBJECT_BYTES) / goal * 1e9;
    let guess = bearable(nanoseconds * machines.typical.clock_ghz);
    let typical = per_second(&machines.typical, &program(Tlab::Growing, Hierarchy::None, guess))?;
    let work = bearable(guess * typical / (goal / f64::from(OBJECT_BYTES)));
    let unit = base / per_second(&machines.typical, &program(Tlab::Growing, Hierarchy::None, work))?;
    let off = program(tlab, Hierarchy::None, work);
    let rate = machines.each(|machine| Some(per_second(machine, &off)? * unit))?;
    let basis = format!(
        "{work:.0} cycles of work per object of {OBJECT_BYTES} bytes, from the JVM with growing TLABs and no buffers"
    );
    if tlab == Tlab::Growing {
        // Its TLABs are larger than the buffers and go past them: there is no speed-up to be simulated.
        return Some(
            beside(findings, cell, "rate_off", rate, Origin::Calibrated, &basis).into_iter().collect(),
        );
    }
    let on = program(tlab, Hierarchy::Levels(vec![Rank { domain, bytes }]), work);
    let speedup = machines.each(|machine| Some(per_second(machine, &on)? / per_second(machine, &off)?))?;
    let rate = beside(findings, cell, "rate_off", rate, Origin::Predicted, &basis);
    let speedup = beside(findings, cell, "speedup", speedup, Origin::Predicted, &basis);
    Some(rate.into_iter().chain(speedup).collect())
}

/// Whether a cell is that of growing TLABs and otherwise has the same values.
fn is_growing(other: &MeasuredCell, cell: &MeasuredCell) -> bool {
    let same = ["threads", "level", "size"]
        .iter()
        .all(|key| other.parameters.get(*key) == cell.parameters.get(*key));
    same && word(other, "tlab") == Some(GROWING)
}

/// The buffers that were in force: who shares one, and its bytes.
fn buffer(cell: &MeasuredCell) -> Option<(Domain, usize)> {
    let (domain, key) = match word(cell, "level")? {
        "core" => (Domain::Core, "core_bytes"),
        "processor" if cell.settings.get("processor_is").and_then(|is| is.as_str()) == Some("package") => {
            (Domain::Package, "processor_bytes")
        }
        "processor" => (Domain::Cluster, "processor_bytes"),
        _ => return None,
    };
    let bytes = cell.settings.get(key)?.as_u64().filter(|bytes| *bytes > 0)?;
    Some((domain, bytes as usize))
}
