//! `terrace lab report`.

use crate::format::{Format, json};
use ::lab_report as report;
use clap::Args;
use jvm::Result;
use present::table;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct Report {
    /// The directory of a run.
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Output format.
    #[arg(long, value_parser = Format::of([Format::Table, Format::Json, Format::Html]), default_value = "table", help_heading = "Output")]
    format: Format,
}

impl Report {
    pub fn execute(&self) -> Result<()> {
        let mut results = ::experiment::results::read(&self.folder)?;
        // Of a run that was interrupted, or of an older version.
        if results.simulated.is_empty() {
            ::lab::simulate::fill(&mut results);
        }
        let files = report::write(&results, &self.folder)?;
        match self.format {
            Format::Html => print!("{}", report::page(&results)?),
            Format::Json => print!("{}", json(&results)?),
            _ => {
                print!("{}", report::text::run(&results, table::columns()));
                files.iter().for_each(|file| println!("written: {}", file.display()));
            }
        }
        Ok(())
    }
}
