//! `terrace sim list`.

use crate::arguments::Format;
use clap::Args;
use coherence::machine::{Machine, shipped};
use coherence::scenario::Program;
use jvm::{Error, Result};
use present::table;
use serde_json::json;

/// Show the machines and programs that are shipped.
#[derive(Args, Debug)]
pub struct List {
    /// What is printed.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

impl List {
    /// Does it.
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
            println!("{}", super::json(&json!({ "machines": machines, "programs": programs }))?);
            return Ok(());
        }
        let rows: Vec<[String; 4]> = machines
            .into_iter()
            .map(|machine| {
                [
                    machine.name,
                    machine.title,
                    machine.shape.cpus().to_string(),
                    machine.protocol.name().to_uppercase(),
                ]
            })
            .collect();
        println!("{}", table::plain(&["machine", "", "CPUs", "protocol"], &rows, table::columns()));
        let rows: Vec<[String; 2]> = Program::ALL
            .iter()
            .map(|program| [program.name().to_owned(), program.title().to_owned()])
            .collect();
        println!("{}", table::plain(&["program", ""], &rows, table::columns()));
        println!("terrace sim machine NAME shows a machine's numbers; terrace sim run simulates.");
        Ok(())
    }
}
