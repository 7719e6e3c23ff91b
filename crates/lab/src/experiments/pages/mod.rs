//! What the size of pages does to memory access, and what is really obtained.

mod claims;
mod file;
mod java;
mod kind;
mod native;
mod tensor;

use crate::Result;
use ::pages::{PageSize, Policy};
use experiment::measured::MeasuredCell;
use experiment::{
    Bench, Better, Declaration, Effort, Experiment, Kind, Metric, Parameter, Plan, Plot, QUICK_ROUNDS,
    Quantity, Reference, Source,
};
use statistics::Interval;

const JAVA: &str = "java";
const NATIVE: &str = "native";

/// `touched`: every page was touched before, or each is when it is first used.
const BEFORE: &str = "before";
const WHEN_USED: &str = "when used";

const FILE: &str = "mapped file";
const COLD: &str = "cold page cache";
const WARM: &str = "warm page cache";

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims::claims, claims::answer).derive(relative)
}

fn declaration() -> Declaration {
    Declaration {
        name: "pages".into(),
        title: "Pages and the TLB".into(),
        question: "How much faster is memory on huge pages, what does the first touch cost, and which pages are obtained?"
            .into(),
        source: Some(Source::new(
            "mpataki",
            "Taking JVM on a performance ride, part 6: Memory (TLB) (2026)",
            "Core i7-9750, JDK 24, 2 GB heap, pre-touched",
        )),
        parameters: vec![
            Parameter::new("language", "Language", ""),
            Parameter::new("pattern", "Order of access", ""),
            Parameter::new("pages", "Pages", ""),
            Parameter::new("touched", "Touched", ""),
            Parameter::new("megabytes", "Tensor", "MB"),
        ],
        metrics: metrics(),
        plots: plots(),
        references: references(),
        ..Declaration::default()
    }
}

fn metrics() -> Vec<Metric> {
    let lower = |key, name, unit, definition: &str| Metric::new(key, name, unit, Better::Lower, definition);
    let neither =
        |key, name, unit, definition: &str| Metric::new(key, name, unit, Better::Neither, definition);
    let totals = |small: &str, huge: &str| {
        format!(
            "The source has totals of a whole run: {small} million with 4 KB pages, {huge} million with transparent ones."
        )
    };
    let whole = "of the measured JVM from its start until it was last sampled, every 0.4 s";
    vec![
        lower(
            "ns",
            "Time per read",
            "ns",
            "wall time over reads of elements of a four-dimensional tensor; reads do not depend on one another, so \
             several are in flight at once",
        ),
        Metric::higher("relative", "Speed relative to 4 KB pages", "x")
            .is("time per read on 4 KB pages over the time on these; native: interleaved in the same run of the cell, \
                 Java: over that of the other cell")
        .caveat(
            "In a virtual machine the host's pages matter as well: if they are small, a huge page of the guest \
             still takes many TLB entries, and the gain is smaller. The TLB misses show it.",
        ),
        lower(
            "first",
            "First pass",
            "s",
            "native: seconds to write every element once, in order; a file: seconds to read a byte of every page",
        )
        .caveat(
            "As much memory on such pages was obtained and released just before, so the host's own faults are not \
             included.",
        ),
        lower("before", "Pre-touching", "s", "seconds to touch every page before the first pass"),
        lower(
            "minor",
            "Minor faults",
            "",
            "page faults served from memory during the first pass and the reads (getrusage of the thread)",
        ),
        lower("major", "Major faults", "", "page faults that waited for the disk, likewise").caveat(
            "The kernel reads ahead of a sequential pass, so few faults wait however cold the cache is.",
        ),
        neither(
            "process_minor",
            "Minor faults, JVM",
            "",
            &format!("page faults served from memory, {whole}"),
        ),
        neither(
            "process_major",
            "Major faults, JVM",
            "",
            &format!("page faults that waited for the disk, {whole}"),
        ),
        neither(
            "huge",
            "On huge pages",
            "MB",
            "bytes on transparent and explicit huge pages as the kernel counts them (smaps) after the reads; Java: \
             of the measured JVM when it was largest",
        )
        .caveat("What was obtained, not what was requested. A tensor of 512 MB, whose size is a power of two, takes 537."),
        lower(
            "dtlb",
            "dTLB misses per read",
            "",
            "dTLB-load-misses over reads: of the reading thread, in Java counted around the measured JVM",
        )
        .caveat(&totals("17.1", "2.2")),
        lower("itlb", "iTLB misses per read", "", "iTLB-load-misses over reads, likewise")
            .caveat(&totals("4.99", "1.76")),
    ]
}

fn plots() -> Vec<Plot> {
    vec![
        Plot::new(Kind::Bars, "Reading a tensor", "ns", "pages", &["language", "pattern"])
            .caption("The page size matters where each read goes to another page, and hardly for sequential reads.")
            .only([("touched", BEFORE.into())])
            .panels(&["megabytes"]),
        Plot::new(Kind::Bars, "Speed relative to 4 KB pages", "relative", "pages", &["language", "pattern"])
            .caption("Above 1 the pages pay off. The published values are for Java.")
            .only([("touched", BEFORE.into())])
            .panels(&["megabytes"]),
        Plot::new(Kind::Bars, "The first pass", "first", "pages", &["touched"])
            .caption("A fault per page, and the kernel's zeroing: the cost that pre-touching moves out of the measured time.")
            .only([("language", NATIVE.into()), ("pattern", "random".into())])
            .panels(&["megabytes"]),
        Plot::new(Kind::Bars, "Memory on huge pages", "huge", "pages", &["language", "touched"])
            .caption("Obtained, not requested.")
            .panels(&["megabytes"]),
        Plot::new(Kind::Bars, "A mapped file", "first", "pages", &["language"])
            .caption("With a cold page cache faults wait for the disk.")
            .only([("pattern", FILE.into())])
            .log_y(),
    ]
}

/// Operations per second with 4 KB pages, and with the others.
const PUBLISHED_SMALL: f64 = 142.007;
const PUBLISHED: [(Policy, f64); 4] = [
    (Policy::Small, PUBLISHED_SMALL),
    (Policy::Transparent, 172.179),
    (Policy::Explicit(PageSize::TwoMegabytes), 140.0),
    (Policy::Explicit(PageSize::OneGigabyte), 182.0),
];

fn references() -> Vec<Reference> {
    PUBLISHED
        .map(|(policy, rate)| {
            let at =
                [("language", JAVA.into()), ("pages", kind::name(policy).into()), ("touched", BEFORE.into())];
            Reference::new("mpataki, Core i7-9750", "relative", at, rate / PUBLISHED_SMALL)
        })
        .into()
}

fn plan(bench: &Bench) -> Result<Plan> {
    let sizes: &[u64] = bench.effort.pick(&[512], &[64, 512, 2048]);
    let fitting = fitting(sizes, bench.memory_bytes());
    let mut notes = Vec::new();
    if fitting != sizes {
        notes.push("Tensors are smaller than planned, because this machine has little memory.".to_owned());
    }
    let mut cells = Vec::new();
    for megabytes in fitting {
        cells.extend(native::cells(bench, megabytes));
        cells.extend(java::cells(bench, megabytes));
    }
    cells.extend(file::cells(bench));
    if bench.effort == Effort::Quick {
        notes.push("Quick: one size; without pre-touching only random reads; --full measures all.".into());
    }
    if bench.allow_sysctl {
        notes.push(
            "Pools of explicit huge pages are filled for the cells that need them, and restored.".into(),
        );
    }
    Ok(Plan { cells, rounds: bench.effort.pick(QUICK_ROUNDS, 6), notes, ..Plan::default() })
}

/// The sizes in MB, each at most what this machine has room for: a tensor, as much on small pages beside it, and a JVM's heap.
fn fitting(sizes: &[u64], memory_bytes: u64) -> Vec<u64> {
    let most = ((memory_bytes >> 20) / 6).max(64).next_power_of_two() / 2;
    let mut fitting: Vec<u64> = sizes.iter().map(|size| (*size).min(most.max(64))).collect();
    fitting.dedup();
    fitting
}

/// Java's speed against 4 KB pages; native cells have measured theirs.
fn relative(cells: &mut [MeasuredCell]) {
    let small = kind::name(Policy::Small);
    let is = |cell: &MeasuredCell, key: &str, word: &str| cell.parameters.get(key) == Some(&word.into());
    let bases: Vec<(MeasuredCell, Interval)> = (cells.iter())
        .filter(|cell| is(cell, "language", JAVA) && is(cell, "pages", &small))
        .filter_map(|cell| Some((cell.clone(), cell.metrics.get("ns")?.interval()?)))
        .collect();
    for cell in cells.iter_mut().filter(|cell| is(cell, "language", JAVA)) {
        let same = |other: &MeasuredCell| {
            ["pattern", "touched", "megabytes"]
                .iter()
                .all(|key| other.parameters.get(*key) == cell.parameters.get(*key))
        };
        let base = bases.iter().find(|(other, _)| same(other)).map(|(_, ns)| *ns);
        let speed = || Some(cell.metrics.get("ns")?.over(base?)?.map(|time| 1.0 / time));
        let quantity = if is(cell, "pages", &small) {
            Quantity::of(vec![], native::IS_THE_BASE)
        } else {
            let reason = "this or the cell on 4 KB pages was not measured";
            speed().unwrap_or_else(|| Quantity::of(vec![], reason))
        };
        cell.metrics.insert("relative".into(), quantity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::parameters;

    #[test]
    fn tensors_fit_the_machine() {
        assert_eq!(fitting(&[64, 512, 2048], 24 << 30), [64, 512, 2048]);
        assert_eq!(fitting(&[64, 512, 2048], 4 << 30), [64, 512]);
        assert_eq!(fitting(&[64, 512, 2048], 1 << 30), [64, 128]);
    }

    #[test]
    fn java_is_compared_with_the_cell_on_small_pages() {
        let cell = |policy: Policy, touched: &str, ns: f64| MeasuredCell {
            parameters: parameters([
                ("language", JAVA.into()),
                ("pages", kind::name(policy).into()),
                ("touched", touched.into()),
            ]),
            metrics: [("ns".to_owned(), Quantity::of(vec![ns], ""))].into(),
            ..MeasuredCell::default()
        };
        let mut cells = [
            cell(Policy::Small, BEFORE, 20.0),
            cell(Policy::Transparent, BEFORE, 10.0),
            cell(Policy::Transparent, WHEN_USED, 10.0),
        ];
        relative(&mut cells);
        let found = cells.map(|cell| cell.metrics["relative"].interval().map(|interval| interval.median));
        assert_eq!(found, [None, Some(2.0), None]);
    }
}
