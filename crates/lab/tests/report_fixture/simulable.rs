//! A run whose cells can be simulated: in the experiments' own words, with the figures of a machine of two cores.

use super::{cell, findings, lacking, results};
use std::sync::OnceLock;
use terrace_lab::experiment::measured::MeasuredCell;
use terrace_lab::experiment::{Declaration, Parameters, Quantity, parameters};
use terrace_lab::experiments;
use terrace_lab::experiments::simulate;
use terrace_lab::results::{Findings, Results};

/// Values within two in a hundred of a centre.
fn near(centre: f64) -> Quantity {
    Quantity::of([0.98, 0.99, 1.0, 1.01, 1.02].map(|factor| centre * factor).into(), "not run")
}

fn declaration(name: &str) -> Declaration {
    let all = experiments::all().into_iter();
    all.map(|experiment| experiment.declaration).find(|found| found.name == name).unwrap()
}

/// Without its plots and published values, which others have tests for.
fn found(name: &str, cells: Vec<MeasuredCell>) -> Findings {
    let declaration = Declaration { plots: vec![], references: vec![], ..declaration(name) };
    findings(declaration, cells, "An answer.", vec![])
}

/// Loads by size, a transfer of 60 ns, and what one thread takes alone.
fn latency() -> Findings {
    let mut cells = Vec::new();
    let loads = [(4_u64 << 10, 1.0), (128 << 10, 3.5), (4 << 20, 13.0), (256 << 20, 160.0)];
    for (bytes, ns) in loads {
        let at = parameters([
            ("measurement", "random loads".into()),
            ("size", bytes.into()),
            ("pages", "4 KB".into()),
        ]);
        cells.push(cell(at, [("ns", near(ns)), ("cycles", near(4.0 * ns))]));
    }
    let pair = parameters([
        ("measurement", "line transfer".into()),
        ("from", 0_u32.into()),
        ("to", 1_u32.into()),
        ("relation", "the last cache".into()),
    ]);
    cells.push(cell(pair, [("transfer_ns", Quantity::of(vec![40.0, 60.0, 60.0, 90.0], ""))]));
    let alone = parameters([("measurement", "one thread".into())]);
    cells.push(cell(alone, [("locked_ns", near(4.7)), ("store_ns", near(0.12)), ("load_ns", near(1.0))]));
    found("latency", cells)
}

fn atomics() -> Findings {
    let at = |operation: &str, layout: &str, threads: u32| -> Parameters {
        parameters([
            ("language", "native".into()),
            ("operation", operation.into()),
            ("layout", layout.into()),
            ("threads", threads.into()),
        ])
    };
    let times = [
        ("lock add", "shared", 1, 4.6),
        ("lock xadd", "shared", 1, 4.7),
        ("lock cmpxchg loop", "shared", 1, 4.8),
        ("lock add", "shared", 2, 8.1),
        ("lock xadd", "shared", 2, 8.3),
        ("lock cmpxchg loop", "shared", 2, 14.0),
        ("lock xadd", "padded", 2, 2.35),
        ("lock xadd", "false_sharing", 2, 8.4),
        ("lock cmpxchg loop", "false_sharing", 2, 12.7),
        ("lock xadd", "shared", 4, 8.4),
        ("plain add", "shared", 1, 0.24),
    ];
    let cells = times
        .map(|(operation, layout, threads, ns)| cell(at(operation, layout, threads), [("ns", near(ns))]));
    let cells = Vec::from(cells);
    found("atomics", cells)
}

fn tlab() -> Findings {
    let times = [("TLAB", [0.65, 1.0]), ("none", [22.0, 130.0]), ("core buffers", [23.0, 24.0])];
    let mut cells = Vec::new();
    for (buffers, times) in times {
        for (threads, ns) in [1_u32, 2].into_iter().zip(times) {
            let at = |collector: &str, bytes: u32| {
                parameters([
                    ("jdk", "25".into()),
                    ("collector", collector.into()),
                    ("bytes", bytes.into()),
                    ("threads", threads.into()),
                    ("buffers", buffers.into()),
                ])
            };
            cells.push(cell(at("Parallel", 16), [("ns", near(ns))]));
            cells.push(cell(at("G1", 16), [("ns", near(ns))]));
        }
    }
    let no_partner = parameters([
        ("jdk", "25".into()),
        ("collector", "Parallel".into()),
        ("bytes", 48_u32.into()),
        ("threads", 2_u32.into()),
        ("buffers", "none".into()),
    ]);
    cells.push(cell(no_partner, [("ns", lacking("no JDK"))]));
    found("tlab", cells)
}

fn hab() -> Findings {
    let rates = [("1k", 1.3e6, 1.12), ("4k", 1.6e6, 1.06), ("growing", 1.8e6, 0.98)];
    let cells = rates.map(|(tlab, rate, speedup)| {
        let at = parameters([
            ("threads", 2_u32.into()),
            ("tlab", tlab.into()),
            ("level", "core".into()),
            ("size", "8m".into()),
        ]);
        let metrics = [("rate_off", near(rate)), ("speedup", near(speedup)), ("collections_off", near(1.02))];
        let mut cell = cell(at, metrics);
        cell.settings =
            serde_json::json!({ "core_bytes": 512 << 10, "processor_bytes": 0, "processor_is": "package" });
        cell
    });
    found("hab", cells.into())
}

/// All of it, simulated; once for all tests.
pub fn simulable() -> Results {
    static SIMULATED: OnceLock<Results> = OnceLock::new();
    let make = || {
        let mut results = measured();
        simulate::fill(&mut results);
        results
    };
    SIMULATED.get_or_init(make).clone()
}

fn measured() -> Results {
    let mut results = Results { experiments: vec![atomics(), tlab(), hab(), latency()], ..results() };
    results.machine.topology = "2 CPUs, 2 cores, 1 cache, 1 package, 1 node".into();
    results
}
