//! `terrace lab list`.

use super::run::{bench, chosen_jdks};
use crate::format::{Format, json};
use ::experiment::{Effort, Wanted};
use ::lab::experiments;
use clap::Args;
use jvm::Result;
use present::table::{Table, columns};

#[derive(Args, Debug)]
pub struct List {
    /// Output format.
    #[arg(long, value_parser = Format::of(Format::BOTH), default_value = "table", help_heading = "Output")]
    format: Format,
}

impl List {
    pub fn execute(&self) -> Result<()> {
        let scratch = ::experiment::session::store::scratch()?;
        let jdks = chosen_jdks(&[])?;
        let mut rows = Vec::new();
        for experiment in experiments::all() {
            let seconds = |effort| -> Result<f64> {
                Ok((experiment.plan)(&bench(
                    effort,
                    jdks.clone(),
                    false,
                    Wanted::default(),
                    scratch.path(),
                )?)?
                .seconds())
            };
            rows.push((experiment.declaration.clone(), seconds(Effort::Quick)?, seconds(Effort::Full)?));
        }
        if self.format == Format::Json {
            let list: Vec<_> = rows
                .iter()
                .map(|(declaration, quick, full)| {
                    serde_json::json!({ "declaration": declaration, "quick_seconds": quick, "full_seconds": full })
                })
                .collect();
            print!("{}", json(&list)?);
            return Ok(());
        }
        let minutes = |seconds: f64| {
            if seconds < 600.0 { format!("{seconds:.0} s") } else { format!("{:.1} h", seconds / 3600.0) }
        };
        let mut table = Table::new(["name", "question", "after", "quick", "full"]);
        for (declaration, quick, full) in rows {
            let source = match declaration.by_name {
                true => "(when named)".into(),
                false => declaration.source.map(|source| source.authors).unwrap_or_default(),
            };
            table.push([declaration.name, declaration.question, source, minutes(quick), minutes(full)]);
        }
        print!("{}", table.text(columns()));
        println!(
            "terrace lab run NAME... runs some of them; terrace lab run runs all but those marked (when named)."
        );
        Ok(())
    }
}
