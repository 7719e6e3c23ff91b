//! `terrace status PID`.

use crate::attach::Process;
use crate::format::{Format, json};
use clap::Args;
use jvm::Result;

/// Arguments of `status`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  terrace status 4711
  terrace status 4711 --format json
  watch -n1 terrace status 4711

The JVM must have been started with 'terrace run', or with the agent's option control=auto,
or have got terrace by 'terrace attach PID'.")]
pub struct Status {
    #[command(flatten)]
    process: Process,

    /// What is printed.
    #[arg(long, value_parser = Format::of(Format::BOTH), default_value = "table", help_heading = "Output")]
    format: Format,
}

impl Status {
    /// Reads and prints.
    pub fn execute(self) -> Result<()> {
        let status = jvm::status::of(self.process.pid)?;
        match self.format {
            Format::Json => print!("{}", json(&status)?),
            _ => print!("{}", jvm::show::status(&status, present::table::columns())),
        }
        Ok(())
    }
}
