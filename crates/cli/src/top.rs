//! `terrace top`.

use crate::arguments::some_milliseconds;
use crate::format::{Format, json};
use clap::Args;
use fleet::order::Order;
use jvm::Result;
use std::time::Duration;

/// Arguments of `top`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  terrace top
  terrace top 4711 4712
  terrace top --sort refills
  terrace top --once                  one frame, for a log
  terrace top --format json           the same for machines

Nothing is put into a JVM: with terrace its counters are in shared memory, and what a stock one
says is what 'jstat' reads. Its allocation is then an estimate (~): eden, times collections.
Keys are shown at the lower edge, and explained by '?'. NO_COLOR=1 has it without colours.")]
pub struct Top {
    /// These JVMs only [default: all that this user may look into].
    #[arg(value_name = "PID", value_parser = crate::usage::process_number)]
    processes: Vec<u32>,

    /// How often it looks.
    #[arg(long, value_name = "TIME", value_parser = some_milliseconds, default_value = "1s")]
    refresh: Duration,

    /// The column that JVMs are sorted by: allocated, tlabs, refills, waste, collections, program or pid.
    #[arg(long, value_name = "COLUMN", default_value = "allocated")]
    sort: Order,

    /// Print one frame, of one --refresh, and end.
    #[arg(long)]
    once: bool,

    /// What is printed; json is one frame.
    #[arg(long, value_parser = Format::of(Format::BOTH), default_value = "table", help_heading = "Output")]
    format: Format,
}

impl Top {
    /// Shows them until a key ends it, or once.
    pub fn execute(self) -> Result<()> {
        let request = fleet::Request { processes: self.processes, refresh: self.refresh, order: self.sort };
        match self.format {
            Format::Json => print!("{}", json(&fleet::once::frame(&request)?)?),
            _ if self.once => print!("{}", fleet::once::frame(&request)?.text(present::table::columns())),
            _ => return fleet::live::run(&request),
        }
        Ok(())
    }
}
