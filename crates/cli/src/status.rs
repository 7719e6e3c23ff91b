//! `terrace status PID`.

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

The JVM must have been started with 'terrace run', or with the agent's option control=auto.")]
pub struct Status {
    /// The JVM's process number ('jps' lists them).
    #[arg(value_name = "PID", value_parser = clap::value_parser!(u32).range(1..=0x3fff_ffff))]
    pid: u32,

    /// What is printed.
    #[arg(long, value_parser = Format::of(Format::BOTH), default_value = "table")]
    format: Format,
}

impl Status {
    /// Reads and prints.
    pub fn execute(self) -> Result<()> {
        let status = jvm::status::of(self.pid)?;
        match self.format {
            Format::Json => print!("{}", json(&status)?),
            _ => print!("{}", jvm::show::status(&status, present::table::columns())),
        }
        Ok(())
    }
}
