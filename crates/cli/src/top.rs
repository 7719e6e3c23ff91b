//! `terrace top`.

use crate::arguments::some_milliseconds;
use crate::format::{Format, json};
use clap::Args;
use fleet::order::Order;
use jvm::Result;
use std::time::Duration;

#[derive(Args)]
#[command(after_help = "\
Examples:
  terrace top
  terrace top 4711 4712
  terrace top --sort refills
  terrace top --once                  one frame, for a log
  terrace top --format json           the same for programs

Nothing is loaded into a JVM: with terrace its counters are in shared memory; of a stock JVM, those
that 'jstat' shows are read, and its allocation is estimated (~): eden times how often it was full.
Keys are listed at the bottom and explained by '?'. NO_COLOR=1 disables colours.")]
pub struct Top {
    /// Only these JVMs [default: all that this user may inspect].
    #[arg(value_name = "PID", value_parser = crate::usage::process_number)]
    processes: Vec<u32>,

    /// Refresh interval.
    #[arg(long, value_name = "TIME", value_parser = some_milliseconds, default_value = "1s")]
    refresh: Duration,

    /// Sort JVMs by this column: allocated, tlabs, refills, waste, collections, program or pid.
    #[arg(long, value_name = "COLUMN", default_value = "allocated")]
    sort: Order,

    /// Print one frame, measured over one --refresh, and exit.
    #[arg(long)]
    once: bool,

    /// Output format; json prints one frame.
    #[arg(long, value_parser = Format::of(Format::BOTH), default_value = "table", help_heading = "Output")]
    format: Format,
}

impl Top {
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
