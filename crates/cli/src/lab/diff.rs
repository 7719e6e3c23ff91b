//! `terrace lab diff`.

use ::lab::report;
use clap::Args;
use jvm::{Error, Result};
use present::table;
use std::path::PathBuf;

/// Compare two runs: what changed significantly.
#[derive(Args, Debug)]
pub struct Diff {
    /// The earlier run's folder.
    #[arg(value_name = "A")]
    before: PathBuf,

    /// The later run's folder.
    #[arg(value_name = "B")]
    after: PathBuf,

    /// What standard output gets.
    #[arg(long, value_enum, default_value = "table")]
    format: crate::arguments::Format,
}

impl Diff {
    /// Does it.
    pub fn execute(&self) -> Result<()> {
        let [before, after] = [&self.before, &self.after].map(|folder| ::lab::results::read(folder));
        let diff = report::diff::compare(&before?, &after?);
        if self.format == crate::arguments::Format::Json {
            println!("{}", serde_json::to_string(&diff).map_err(|error| Error::failed(error.to_string()))?);
        } else {
            print!("{}", report::diff::text(&diff, table::columns()));
        }
        Ok(())
    }
}
