//! `terrace sim machine`.

use crate::format::{Format, json};
use clap::Args;
use coherence::machine::{self, Figure};
use jvm::Result;
use present::table::{Table, columns};
use serde_json::{Value, json};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  terrace sim machine epyc-9654-2x96
  terrace sim machine my-server.toml      your own file: docs/machines.md")]
pub struct MachineCommand {
    /// An included machine, or a file.
    #[arg(value_name = "NAME|FILE", value_parser = super::arguments::machine)]
    machine: machine::Machine,

    /// Output format.
    #[arg(long, value_parser = Format::of(Format::BOTH), default_value = "table", help_heading = "Output")]
    format: Format,
}

/// What a list tells of a machine.
pub fn summary(machine: &machine::Machine) -> Value {
    let shape = &machine.shape;
    json!({
        "name": machine.name,
        "title": machine.title,
        "cpus": shape.cpus(),
        "protocol": machine.protocol.name(),
        "packages": shape.packages,
        "clusters_per_package": shape.clusters,
        "cores_per_cluster": shape.cores,
        "threads_per_core": shape.threads,
        "clock_ghz": machine.clock_ghz,
    })
}

fn number(figure: &Figure) -> Value {
    json!({
        "key": figure.key,
        "value": figure.value,
        "unit": figure.unit.name(),
        "low": figure.low,
        "high": figure.high,
        "origin": figure.origin.kind(),
        "text": figure.origin.text(),
    })
}

fn row(figure: &Figure) -> Vec<String> {
    let range = match (figure.low, figure.high) {
        (None, None) => String::new(),
        (low, high) => {
            let bound = |bound: Option<f64>| bound.map_or("?".into(), |bound| bound.to_string());
            format!("{} to {}", bound(low), bound(high))
        }
    };
    let origin = &figure.origin;
    vec![
        figure.key.clone(),
        format!("{} {}", figure.value, figure.unit).trim_end().into(),
        range,
        format!("{}: {}", origin.kind(), origin.text()),
    ]
}

/// The keys of numbers that are guesses.
pub fn assumed(machine: &machine::Machine) -> Vec<String> {
    let guesses = machine.figures.iter().filter(|figure| figure.origin.kind() == "assumed");
    guesses.map(|figure| figure.key.clone()).collect()
}

impl MachineCommand {
    pub fn execute(&self) -> Result<()> {
        let machine = &self.machine;
        if self.format == Format::Json {
            let mut all = summary(machine);
            all["figures"] = machine.figures.iter().map(number).collect();
            print!("{}", json(&all)?);
            return Ok(());
        }
        let shape = &machine.shape;
        println!("{}: {}", machine.name, machine.title);
        println!(
            "{} CPUs: packages x clusters x cores x threads = {} x {} x {} x {}; {}",
            shape.cpus(),
            shape.packages,
            shape.clusters,
            shape.cores,
            shape.threads,
            machine.protocol.name().to_uppercase()
        );
        let table = Table::new(["number", "value", "range", "origin"]).with(machine.figures.iter().map(row));
        print!("{}", table.text(columns()));
        let guesses = assumed(machine).len();
        println!("{guesses} of {} numbers are assumed.", machine.figures.len());
        Ok(())
    }
}
