//! `terrace lab list`.

use super::run::{bench, chosen_jdks};
use ::lab::experiment::{Effort, Wanted};
use ::lab::experiments;
use clap::Args;
use jvm::Result;
use present::table;
use serde_json::json;

/// Show the experiments: what each asks, and how long it takes.
#[derive(Args, Debug)]
pub struct List {
    /// For people or for programs.
    #[arg(long, value_enum, default_value = "table")]
    format: crate::arguments::Format,
}

impl List {
    /// Does it.
    pub fn execute(&self) -> Result<()> {
        let scratch = ::lab::session::store::scratch()?;
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
        if self.format == crate::arguments::Format::Json {
            let list: Vec<_> = rows
                .iter()
                .map(|(declaration, quick, full)| {
                    json!({ "declaration": declaration, "quick_seconds": quick, "full_seconds": full })
                })
                .collect();
            println!("{}", json!(list));
            return Ok(());
        }
        let minutes = |seconds: f64| {
            if seconds < 600.0 { format!("{seconds:.0} s") } else { format!("{:.1} h", seconds / 3600.0) }
        };
        let lines: Vec<[String; 5]> = rows
            .into_iter()
            .map(|(declaration, quick, full)| {
                let source = if declaration.by_name {
                    "(when named)".into()
                } else {
                    declaration.source.map(|source| source.authors).unwrap_or_default()
                };
                [declaration.name, declaration.question, source, minutes(quick), minutes(full)]
            })
            .collect();
        let header = ["name", "question", "after", "quick", "full"];
        println!("{}", table::plain(&header, &lines, table::columns()));
        println!("terrace lab run NAME... runs some of them, terrace lab run all but those (when named).");
        Ok(())
    }
}
