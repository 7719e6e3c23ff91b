//! What is kept of a run: `target/terrace/arena/results.json`, in the form of the lab's results, from which `cargo xtask results` makes the tables of
//! docs/arena.md.

use crate::Findings;
use crate::contestants::Contestant;
use crate::objects::{Cell, Pass};
use crate::reach::Figure;
use crate::small::{Maker, SIZES as SMALL_SIZES};
use present::numbers;
use serde_json::{Value, json};
use statistics::{Interval, bootstrap};
use std::time::{SystemTime, UNIX_EPOCH};

/// The numbers of threads that the document shows; of each size of objects.
const THREADS: [usize; 3] = [1, 2, 64];

fn metric(found: Option<Interval>) -> Value {
    found.map_or_else(
        || json!({ "unavailable": "not measured" }),
        |found| json!({ "median": found.median, "low": found.low, "high": found.high }),
    )
}

fn of_cell(cell: &Cell, one: Contestant, pick: fn(&Pass) -> f64) -> Option<Interval> {
    bootstrap(&cell.rounds.get(&one)?.iter().map(pick).collect::<Vec<_>>(), 1)
}

fn threads(count: usize) -> String {
    format!("{count} thread{}", if count == 1 { "" } else { "s" })
}

/// Everything that the document shows.
pub fn results(findings: &Findings, figures: &[Figure]) -> Value {
    let mut objects = Vec::new();
    for &one in Contestant::ALL.iter().filter(|one| **one != Contestant::NoPrefetch) {
        for cell in findings.cells.iter().filter(|cell| THREADS.contains(&cell.threads)) {
            let column = format!("{} B, {}", cell.bytes, threads(cell.threads));
            let allocate = metric(of_cell(cell, one, |pass| pass.allocate));
            let all = metric(of_cell(cell, one, |pass| pass.all));
            let processes = 1;
            objects.push(json!({ "parameters": { "contestant": one.name(), "column": column },
                "processes": processes, "metrics": { "allocate": allocate, "all": all } }));
        }
    }
    let mut small = Vec::new();
    for maker in Maker::ALL {
        for bytes in SMALL_SIZES {
            for one in findings.small.iter().filter(|one| one.bytes == bytes) {
                let column = format!("{}, {}", numbers::human(bytes as f64), threads(one.threads));
                let found = one.rounds.get(&maker).and_then(|rounds| bootstrap(rounds, 1));
                small.push(json!({ "parameters": { "contestant": maker.name(), "column": column },
                    "processes": 1, "metrics": { "ns": metric(found) } }));
            }
        }
    }
    #[cfg(feature = "mmtk")]
    let fresh: Vec<Value> = findings.fresh.iter().map(of_fresh).collect();
    #[cfg(not(feature = "mmtk"))]
    let fresh = Vec::new();
    let reach: Vec<Value> = figures
        .iter()
        .map(|figure| {
            json!({ "parameters": { "what": figure.what, "limit": figure.limit, "found": figure.found,
                "verdict": figure.verdict() }, "processes": 1, "metrics": {} })
        })
        .collect();
    let experiment =
        |name: &str, cells: Vec<Value>| json!({ "declaration": { "name": name }, "cells": cells });
    let quick = if findings.quick { " --quick" } else { "" };
    json!({
        "command": format!("cargo xtask bench arena{quick}"),
        "started_unix": SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        "machine": machine(findings.cpus),
        "experiments": [
            experiment("arena", objects),
            experiment("arena-requests", small),
            experiment("arena-mmtk", fresh),
            experiment("arena-reach", reach),
        ],
    })
}

#[cfg(feature = "mmtk")]
fn of_fresh(fresh: &crate::fresh::Fresh) -> Value {
    let times = |found: &[crate::fresh::Found]| found.iter().map(|found| found.allocate).collect::<Vec<_>>();
    let (arena, mmtk) = (times(&fresh.arena), times(&fresh.mmtk));
    let ratios: Vec<f64> = arena.iter().zip(&mmtk).map(|(arena, mmtk)| arena / mmtk).collect();
    let memory = if fresh.touched { "touched" } else { "new" };
    json!({ "parameters": { "bytes": fresh.bytes, "memory": memory }, "processes": 2 * arena.len(),
        "metrics": { "arena": metric(bootstrap(&arena, 1)), "mmtk": metric(bootstrap(&mmtk, 1)),
            "ratio": metric(bootstrap(&ratios, 1)) } })
}

fn machine(cpus: usize) -> Value {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let about = read("/proc/cpuinfo");
    let model = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let kernel = read("/proc/sys/kernel/osrelease");
    json!({ "model": model.map_or("unknown", |(_, model)| model), "cpus": cpus,
        "kernel": kernel.split('-').next().unwrap_or_default().trim() })
}
