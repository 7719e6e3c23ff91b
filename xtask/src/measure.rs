//! What the measuring commands share.

use crate::files::{create, write};
use crate::shell::root;
use compare::machine::Host;
use jvm::Result;
use serde_json::{Value, json};

/// Writes the cells of an experiment as a run that `cargo xtask results` takes.
pub fn publish(name: &str, cells: &[Value]) -> Result<()> {
    keep(name, cells)?;
    println!("target/terrace/{name}: {} rows; cargo xtask results target/terrace/{name}", cells.len());
    Ok(())
}

/// Writes what there is so far into the run's folder.
pub fn keep(name: &str, cells: &[Value]) -> Result<()> {
    let host = Host::here();
    let machine = json!({ "model": host.model, "cpus": host.cpus, "kernel": host.kernel });
    let run = json!({ "command": format!("cargo xtask {name}"), "machine": machine,
        "experiments": [{ "declaration": { "name": name }, "cells": cells }] });
    let folder = root().join("target/terrace").join(name);
    create(&folder)?;
    write(folder.join("results.json"), run.to_string())
}

/// The median of values, between the least and the most.
pub fn spread(values: &[f64]) -> Value {
    let end = |of: fn(f64, f64) -> f64| values.iter().copied().reduce(of);
    json!({ "median": statistics::median(values), "low": end(f64::min), "high": end(f64::max) })
}
