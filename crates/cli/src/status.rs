//! `terrace status PID`.

use crate::attach::Process;
use crate::format::{Format, json};
use clap::Args;
use jvm::Result;

#[derive(Args)]
#[command(after_help = "\
Examples:
  terrace status 4711
  terrace status 4711 --why             why the buffers have their sizes
  terrace status 4711 --format json
  watch -n1 terrace status 4711

The JVM must have been started with 'terrace run' or with the agent's option control=auto,
or terrace must have been loaded by 'terrace attach PID'.")]
pub struct Status {
    #[command(flatten)]
    process: Process,

    /// Also show why the buffers have their sizes: the last evaluations and changes [always in JSON].
    #[arg(long, help_heading = "Output")]
    why: bool,

    /// Output format.
    #[arg(long, value_parser = Format::of(Format::BOTH), default_value = "table", help_heading = "Output")]
    format: Format,
}

impl Status {
    pub fn execute(self) -> Result<()> {
        let status = jvm::status::of(self.process.pid)?;
        match self.format {
            Format::Json => print!("{}", json(&status)?),
            _ => {
                let columns = present::table::columns();
                print!("{}", jvm::show::status(&status, columns));
                if self.why {
                    print!("{}", jvm::why::show(&status.sizing, columns));
                }
            }
        }
        Ok(())
    }
}
