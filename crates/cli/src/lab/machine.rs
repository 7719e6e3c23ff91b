//! `terrace lab machine`.

use ::experiment::results;
use ::lab::simulate;
use clap::Args;
use jvm::{Error, Result};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  terrace lab run latency atomics --out here && terrace lab machine here > my.toml")]
pub struct MachineCommand {
    /// The directory of a run.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl MachineCommand {
    pub fn execute(&self) -> Result<()> {
        let text = simulate::machine_file(&results::read(&self.folder)?).map_err(Error::failed)?;
        print!("{text}");
        Ok(())
    }
}
