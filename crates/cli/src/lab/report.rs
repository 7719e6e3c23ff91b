//! `terrace lab report`.

use ::lab::report;
use clap::Args;
use jvm::{Error, Result};
use present::table;
use std::path::PathBuf;

/// Show a folder's results again, and write its page anew.
#[derive(Args, Debug)]
pub struct Report {
    /// The folder of a run.
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// What standard output gets.
    #[arg(long, value_enum, default_value = "table")]
    format: crate::arguments::Format,
}

impl Report {
    /// Does it.
    pub fn execute(&self) -> Result<()> {
        let mut results = ::lab::results::read(&self.folder)?;
        // Of a run that was interrupted, or of an older version.
        if results.simulated.is_empty() {
            ::lab::experiments::simulate::fill(&mut results);
        }
        let files = report::write(&results, &self.folder)?;
        if self.format == crate::arguments::Format::Json {
            println!(
                "{}",
                serde_json::to_string(&results).map_err(|error| Error::failed(error.to_string()))?
            );
            return Ok(());
        }
        print!("{}", report::text::run(&results, table::columns()));
        for file in files {
            println!("written: {}", file.display());
        }
        Ok(())
    }
}
