//! How long the agent looks for HotSpot's names and places, on each JDK and collector that is there.

use crate::shell::root;
use crate::{build, jdks};
use jvm::{Error, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// JVMs of each JDK and collector.
const PROCESSES: usize = 9;
const COLLECTORS: [&str; 5] = ["Serial", "Parallel", "G1", "Epsilon", "Shenandoah"];

/// Measures, and writes a run that `cargo xtask results` takes.
pub fn run() -> Result<()> {
    let agent = build::agent()?;
    let mut found: BTreeMap<(u32, String, String), Vec<f64>> = BTreeMap::new();
    for java in javas() {
        for (place, collector) in COLLECTORS.iter().enumerate() {
            for _ in 0..PROCESSES {
                // A build that lacks the collector, or a version that is refused, has nothing to tell.
                let Some((jdk, name, millis)) = ask(&java, &agent, collector)? else { break };
                let feature = jdk.split(['.', '+', '-']).next().and_then(|number| number.parse().ok());
                found.entry((feature.unwrap_or(0), jdk, format!("{place}{name}"))).or_default().push(millis);
            }
        }
    }
    let cells: Vec<Value> =
        found.into_iter().map(|((_, jdk, name), values)| cell(&jdk, &name[1..], values)).collect();
    let host = compare::machine::Host::here();
    let run = json!({ "command": "cargo xtask lookups", "machine": { "model": host.model, "cpus": host.cpus, "kernel": host.kernel },
        "experiments": [{ "declaration": { "name": "lookups" }, "cells": cells }] });
    let folder = root().join("target/terrace/lookups");
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join("results.json"), run.to_string()));
    written.map_err(|error| Error::failed(format!("{}: {error}", folder.display())))?;
    println!("target/terrace/lookups: {} pairs of JDK and collector", cells.len());
    Ok(())
}

fn javas() -> Vec<PathBuf> {
    let fetched = std::fs::read_dir(root().join("target/jdks")).into_iter().flatten().flatten();
    let fetched = fetched.map(|entry| entry.path().join("bin/java")).filter(|java| java.is_file());
    let mut all: Vec<PathBuf> = jdks::all().iter().map(jvm::jdk::Jdk::java).chain(fetched).collect();
    all.sort();
    all.dedup_by_key(|java| java.canonicalize().unwrap_or_else(|_| java.clone()));
    all
}

/// `terrace: debug: JDK 25.0.3+9-LTS, G1: found in 2345 us`.
fn ask(java: &Path, agent: &Path, collector: &str) -> Result<Option<(String, String, f64)>> {
    let output = Command::new(java)
        .args(["-XX:+UnlockExperimentalVMOptions", &format!("-XX:+Use{collector}GC")])
        .arg(format!("-agentpath:{}=log=debug", agent.display()))
        .args(["-Xmx64m", "-version"])
        .output()
        .map_err(|error| Error::failed(format!("{}: {error}", java.display())))?;
    let said = String::from_utf8_lossy(&output.stderr);
    Ok(said.lines().find_map(|line| {
        let (jdk, rest) = line.strip_prefix("terrace: debug: JDK ")?.split_once(", ")?;
        let (name, took) = rest.split_once(": found in ")?;
        let micros: f64 = took.strip_suffix(" us")?.parse().ok()?;
        Some((jdk.to_owned(), name.to_owned(), micros / 1000.0))
    }))
}

fn cell(jdk: &str, collector: &str, mut values: Vec<f64>) -> Value {
    values.sort_by(f64::total_cmp);
    let (least, most) = (values.first().copied(), values.last().copied());
    json!({ "parameters": { "jdk": jdk, "collector": collector }, "processes": values.len(),
        "metrics": { "lookup": { "median": values.get(values.len() / 2), "low": least, "high": most } } })
}
