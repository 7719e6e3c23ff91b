//! Kirsch, Payer and Röck (2012), Figure 2: speed-ups over thread buffers alone of the same size, 80 threads.
//!
//! The figure's values are in a picture; the text gives its order, and the axis ends at 2.5. Its height is taken as 2.25, the middle
//! of what such an axis suggests, and the mutator's work was calibrated on that: it stands for the processor, the collections and the
//! memory of 2012 together.

use super::setting::Setting;
use super::{Finding, Limit, Role, published};
use crate::machine::Machine;
use crate::profile::Profile;
use crate::programs::Options;
use crate::programs::allocate::{
    self, Allocation, Collector, Domain, Hierarchy, Mutator, Rank, Tlab, UsedUp,
};
use std::io;

pub(super) const SOURCE: &str = "Kirsch, Payer, Röck 2012";
pub(super) const THREADS: u32 = 80;
/// Eden of a new generation of 10 GB.
pub(super) const EDEN: usize = 8 << 30;

const MB: usize = 1 << 20;
/// A gain that one can see in a figure: what is equal is no gain.
const VISIBLE: f64 = 1.01;
const SIZES: [(&str, Tlab); 6] = [
    ("1 KB", Tlab::Bytes(1 << 10)),
    ("4 KB", Tlab::Bytes(4 << 10)),
    ("16 KB", Tlab::Bytes(16 << 10)),
    ("64 KB", Tlab::Bytes(64 << 10)),
    ("128 KB", Tlab::Bytes(128 << 10)),
    ("growing", Tlab::Growing),
];
/// Bytes of processor buffers, and of core buffers.
const PROCESSOR: [usize; 4] = [8 * MB, 32 * MB, 64 * MB, 128 * MB];
const CORE: [usize; 4] = [MB / 2, MB, 8 * MB, 16 * MB];

pub(super) fn mutator() -> Mutator {
    Profile::javac().mutator()
}

fn rate(setting: &Setting, machine: &Machine, tlab: Tlab, hierarchy: Hierarchy) -> io::Result<f64> {
    let calls = setting.calls();
    let allocation = Allocation {
        tlab,
        hierarchy,
        eden: EDEN,
        collector: Collector::Parallel,
        mutator: mutator(),
        refill_cycles: calls.refill,
        heap_cycles: calls.heap,
        pause: 0,
    };
    // Pinned: 80 threads on 80 hardware threads have no reason to move, and moves would be no difference between the two.
    let options =
        Options { threads: THREADS, pinned: true, seed: setting.seed, length: 10_000_000_000, events: 0 };
    Ok(allocate::run(machine, &allocation, &options)?.run.per_second())
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().sum::<f64>() / values.count().max(1) as f64
}

pub(super) fn evaluate(setting: &Setting, progress: &(dyn Fn(&str) + Sync)) -> io::Result<Vec<Finding>> {
    let machine = setting.machine("paper-4x10x2");
    let mut alone = Vec::new();
    // By size of thread buffers: the speed-ups with processor buffers, and with core buffers.
    let mut processor = Vec::new();
    let mut core = Vec::new();
    for (name, tlab) in SIZES {
        progress(&format!("Figure 2, thread buffers of {name}"));
        let without = rate(setting, &machine, tlab, Hierarchy::None)?;
        let with = |domain, bytes| {
            let hierarchy = Hierarchy::Paper(Rank { domain, bytes }, UsedUp::NextBuffer);
            Ok(rate(setting, &machine, tlab, hierarchy)? / without)
        };
        let all = |domain, sizes: [usize; 4]| {
            sizes.into_iter().map(|bytes| with(domain, bytes)).collect::<io::Result<Vec<f64>>>()
        };
        processor.push(all(Domain::Package, PROCESSOR)?);
        core.push(all(Domain::Core, CORE)?);
        alone.push(without);
    }
    let of_size = |size: usize| processor[size].iter().chain(&core[size]).copied();
    let peak = (0..SIZES.len()).flat_map(of_size).fold(0.0, f64::max);
    let falls =
        (1..SIZES.len() - 1).map(|size| mean(of_size(size)) / mean(of_size(size - 1))).fold(0.0, f64::max);
    let least = (0..SIZES.len()).flat_map(of_size).fold(f64::INFINITY, f64::min);
    let growing = SIZES.len() - 1;
    let core_over_processor =
        mean(core.iter().flatten().copied()) / mean(processor.iter().flatten().copied());
    // Figure 3: over growing thread buffers alone.
    let small = (1..=2).map(|size| mean(core[size].iter().copied()) * alone[size] / alone[growing]);
    let says = |what: &str, role, published, simulated, limit| Finding {
        source: SOURCE.into(),
        what: what.into(),
        role,
        published,
        simulated,
        limit,
        range: None,
    };
    use Role::Predicted;
    let (height, role) = published::value("figure-2-height");
    Ok(vec![
        says("Figure 2: highest speed-up (read as 2.25)", role, Some(height), peak, Limit::Within(0.25)),
        says(
            "Figure 2: smaller thread buffers gain more (largest rise from one size to the next)",
            Predicted,
            None,
            falls,
            Limit::AtMost(1.01),
        ),
        says("Figure 2: no curve below 1 (lowest)", Predicted, None, least, Limit::AtLeast(0.98)),
        says(
            "Figure 2: growing thread buffers gain too (mean)",
            Predicted,
            None,
            mean(of_size(growing)),
            Limit::AtLeast(VISIBLE),
        ),
        says(
            "Figure 2: core buffers a little better than processor buffers (ratio of means)",
            Predicted,
            None,
            core_over_processor,
            Limit::AtLeast(VISIBLE),
        ),
        says(
            "Figure 3: 4 and 16 KB with core buffers are like growing alone (lower one)",
            Predicted,
            None,
            small.fold(f64::INFINITY, f64::min),
            Limit::AtLeast(0.9),
        ),
    ])
}
