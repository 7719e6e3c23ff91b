//! `terrace sim list`.

use crate::format::{Format, json};
use clap::Args;
use coherence::machine::{Machine, shipped};
use coherence::scenario::Program;
use jvm::{Error, Result};
use present::table::{Table, columns};
use serde_json::json;

#[derive(Args, Debug)]
pub struct List {
    /// Output format.
    #[arg(long, value_parser = Format::of(Format::BOTH), default_value = "table", help_heading = "Output")]
    format: Format,
}

impl List {
    pub fn execute(&self) -> Result<()> {
        let machines = shipped()
            .iter()
            .map(|(name, _)| Machine::named(name))
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|error| Error::failed(error.to_string()))?;
        if self.format == Format::Json {
            let machines: Vec<_> = machines.iter().map(super::machine::summary).collect();
            let programs: Vec<_> = Program::ALL
                .iter()
                .map(|program| json!({ "name": program.name(), "title": program.title() }))
                .collect();
            print!("{}", json(&json!({ "machines": machines, "programs": programs }))?);
            return Ok(());
        }
        let mut table = Table::new(["machine", "", "CPUs", "protocol"]);
        for machine in machines {
            let (cpus, protocol) = (machine.shape.cpus().to_string(), machine.protocol.name().to_uppercase());
            table.push([machine.name, machine.title, cpus, protocol]);
        }
        print!("{}", table.text(columns()));
        let mut table = Table::new(["program", ""]);
        Program::ALL.iter().for_each(|program| table.push([program.name(), program.title()]));
        print!("{}", table.text(columns()));
        println!("terrace sim machine NAME shows a machine's numbers; terrace sim run simulates.");
        Ok(())
    }
}
