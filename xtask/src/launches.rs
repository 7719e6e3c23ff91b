//! Which JDKs and collectors the agent was launched with, and what came of it: from what the launches of real JVMs wrote
//! (`TERRACE_LAUNCHES`) to README's table.

use jvm::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A line of what the launches wrote.
#[derive(Deserialize)]
struct Launch {
    hazard: String,
    collector: String,
    jdk: String,
    architecture: String,
    outcome: String,
}

/// All launches of one collector in one JDK.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Cell {
    architecture: String,
    collector: String,
    jdk: String,
    passed: u32,
    failed: u32,
    skipped: u32,
    /// Of those that passed: that the agent refuses, and that the application runs.
    refused: u32,
}

/// How the collectors are listed.
const ORDER: [&str; 8] = [
    "Serial",
    "Parallel",
    "G1",
    "Epsilon",
    "Shenandoah",
    "generational-Shenandoah",
    "ZGC",
    "single-generation-ZGC",
];
/// What the agent only observes is called so.
const OBSERVED: &str = "ZGC";
const PASSED: &str = "passed";
/// What launches are called that are there to be refused.
const REFUSED: &str = "is_refused";

fn feature(jdk: &str) -> u32 {
    jdk.split('.').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn place(collector: &str) -> usize {
    ORDER.iter().position(|known| *known == collector).unwrap_or(ORDER.len())
}

/// What is kept, with all launches of `written` in place of earlier ones of the same collectors, and of other builds of the same JDKs. Of a launch that was repeated the last counts.
pub fn taken(kept: &Value, written: &str) -> Result<Value> {
    let mut last: BTreeMap<(String, String, String, String), String> = BTreeMap::new();
    for line in written.lines() {
        let launch: Launch = serde_json::from_str(line).map_err(|error| {
            Error::failed(format!("'{line}' is not a launch: {error}; run the launches again"))
        })?;
        last.insert((launch.architecture, launch.jdk, launch.collector, launch.hazard), launch.outcome);
    }
    let mut cells: BTreeMap<(String, u32, usize), Cell> = BTreeMap::new();
    for ((architecture, jdk, collector, hazard), outcome) in last {
        let cell = cells.entry((architecture.clone(), feature(&jdk), place(&collector))).or_default();
        match outcome.as_str() {
            PASSED if hazard.contains(REFUSED) => cell.refused += 1,
            PASSED => cell.passed += 1,
            "skipped" => cell.skipped += 1,
            _ => cell.failed += 1,
        }
        *cell = Cell { architecture, collector, jdk, ..cell.clone() };
    }
    let launched: BTreeMap<(String, u32), String> = cells
        .iter()
        .map(|((machine, feature, _), cell)| ((machine.clone(), *feature), cell.jdk.clone()))
        .collect();
    for cell in cells_of(kept) {
        let (machine, feature) = (cell.architecture.clone(), feature(&cell.jdk));
        if launched.get(&(machine.clone(), feature)).is_none_or(|jdk| *jdk == cell.jdk) {
            cells.entry((machine, feature, place(&cell.collector))).or_insert(cell);
        }
    }
    Ok(
        json!({ "cells": cells.into_values().collect::<Vec<_>>(), "command": "cargo xtask test --all, cargo xtask aarch64" }),
    )
}

fn cells_of(kept: &Value) -> Vec<Cell> {
    serde_json::from_value(kept["cells"].clone()).unwrap_or_default()
}

/// The table in Markdown: a line for each JDK of each architecture, a column for each collector; how many launches passed only where all of
/// them did.
pub fn table(kept: &Value) -> String {
    let cells = cells_of(kept);
    let launched = |cell: &Cell| cell.passed + cell.failed + cell.refused > 0;
    let collectors: Vec<&str> = (ORDER.into_iter())
        .filter(|name| cells.iter().any(|cell| cell.collector == *name && launched(cell)))
        .collect();
    let short = |name: &&str| {
        name.replace("generational-Shenandoah", "gen. Shen.").replace("single-generation-", "non-gen. ")
    };
    let names: Vec<String> = collectors.iter().map(short).collect();
    let mut text = format!("| | JDK | {} |\n|---|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    let mut rows: Vec<(Reverse<&str>, u32, &str)> = (cells.iter())
        .map(|cell| (Reverse(cell.architecture.as_str()), feature(&cell.jdk), cell.jdk.as_str()))
        .collect();
    rows.sort_unstable();
    rows.dedup();
    for (Reverse(architecture), _, jdk) in rows {
        let of = |name: &str| {
            (cells.iter())
                .find(|cell| cell.architecture == architecture && cell.jdk == jdk && cell.collector == name)
        };
        let words: Vec<String> =
            collectors.iter().map(|name| of(name).map_or_else(|| "-".into(), Cell::word)).collect();
        text += &format!("| {architecture} | {jdk} | {} |\n", words.join(" | "));
    }
    text
}

impl Cell {
    fn word(&self) -> String {
        match (self.failed, self.passed, self.refused) {
            (0, 0, 0) => "-".into(),
            (0, 0, _) => "refused".into(),
            (0, passed, _) if self.collector.ends_with(OBSERVED) => format!("observed ({passed})"),
            (0, passed, _) => passed.to_string(),
            (failed, passed, refused) => format!("no: {failed} of {} failed", failed + passed + refused),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(hazard: &str, collector: &str, jdk: &str, architecture: &str, outcome: &str) -> String {
        format!(
            "{{\"hazard\":\"{hazard}\",\"collector\":\"{collector}\",\"jdk\":\"{jdk}\",\"architecture\":\"{architecture}\",\"outcome\":\"{outcome}\"}}\n"
        )
    }

    #[test]
    fn a_cell_says_how_many_passed_only_if_all_did() {
        let written = [
            line("load", "G1", "11.0.2", "x64", "passed"),
            line("attach", "G1", "11.0.2", "x64", "failed"),
            line("load", "G1", "28", "x64", "failed"),
            line("load", "G1", "28", "x64", "passed"),
            line("pages", "G1", "28", "x64", "skipped"),
            line("zgc_is_refused", "ZGC", "28", "x64", "passed"),
            line("zgc_is_refused", "ZGC", "11.0.2", "x64", "passed"),
            line("zgc::load", "ZGC", "11.0.2", "x64", "passed"),
            line("load", "Shenandoah", "28", "x64", "skipped"),
        ];
        let kept = taken(&Value::Null, &written.concat()).unwrap();
        let expected = "| | JDK | G1 | ZGC |\n|---|---|---|---|\n| x64 | 11.0.2 | no: 1 of 2 failed | observed (1) |\n\
                        | x64 | 28 | 1 | refused |\n";
        assert_eq!(table(&kept), expected);

        let again =
            line("load", "G1", "11.0.3", "x64", "passed") + &line("load", "G1", "28.0.1", "arm64", "passed");
        let expected = "| | JDK | G1 | ZGC |\n|---|---|---|---|\n| x64 | 11.0.3 | 1 | - |\n| x64 | 28 | 1 | refused |\n\
                        | arm64 | 28.0.1 | 1 | - |\n";
        assert_eq!(table(&taken(&kept, &again).unwrap()), expected);
        let more = line("load", "Serial", "28", "x64", "passed");
        let expected = "| | JDK | Serial | G1 | ZGC |\n|---|---|---|---|---|\n| x64 | 11.0.2 | - | no: 1 of 2 failed | observed (1) |\n\
                        | x64 | 28 | 1 | 1 | refused |\n";
        assert_eq!(table(&taken(&kept, &more).unwrap()), expected, "others of the same build are kept");
        assert!(taken(&kept, "{}").unwrap_err().to_string().contains("is not a launch"));
    }
}
