//! `terrace lab diff`.

use crate::format::{Format, json};
use ::lab_report as report;
use clap::Args;
use jvm::Result;
use present::table;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct Diff {
    /// The earlier run's directory.
    #[arg(value_name = "A")]
    before: PathBuf,

    /// The later run's directory.
    #[arg(value_name = "B")]
    after: PathBuf,

    /// Output format.
    #[arg(long, value_parser = Format::of(Format::BOTH), default_value = "table", help_heading = "Output")]
    format: Format,
}

impl Diff {
    pub fn execute(&self) -> Result<()> {
        let [before, after] = [&self.before, &self.after].map(|folder| ::experiment::results::read(folder));
        let diff = report::diff::compare(&before?, &after?);
        if self.format == Format::Json {
            print!("{}", json(&diff)?);
        } else {
            print!("{}", report::diff::text(&diff, table::columns()));
        }
        Ok(())
    }
}
