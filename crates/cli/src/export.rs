//! `terrace export`.

use clap::Args;
use fleet::export::{Exporter, Protocol};
use fleet::repeat::Repeat;
use jvm::Result;
use jvm::out_file::OutFile;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args)]
#[command(after_help = "\
Examples:
  terrace export 4711
  terrace export --prometheus --out /var/lib/node_exporter/terrace.prom --every 15s
  terrace export --otlp >> metrics.jsonl

Names, units and attributes are OpenTelemetry's: terrace.buffer.refills with terrace.level and
terrace.domain is terrace_buffer_refills_total to Prometheus. A file is replaced in one step,
as node_exporter's textfile collector needs it. docs/counters.md defines each.")]
pub struct Export {
    /// These JVMs [default: all with terrace that this user may inspect].
    #[arg(value_name = "PID", value_parser = crate::usage::process_number)]
    processes: Vec<u32>,

    /// Prometheus' text format, the default.
    #[arg(long)]
    prometheus: bool,

    /// OpenTelemetry's JSON (OTLP), one line per export.
    #[arg(long, conflicts_with = "prometheus")]
    otlp: bool,

    /// Write to FILE instead of standard output.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,

    /// Repeat at this interval; needs --out. Later errors are reported once and do not end it: JVMs that end are left
    /// out; when all that were named have ended, FILE is emptied and the command exits with 0.
    #[arg(long, value_name = "TIME", value_parser = crate::arguments::some_seconds, requires = "out")]
    every: Option<Duration>,
}

impl Export {
    pub fn execute(self) -> Result<()> {
        let protocol = if self.otlp { Protocol::OpenTelemetry } else { Protocol::Prometheus };
        let mut exporter = Exporter::of(&self.processes, protocol);
        if let (Some(path), Some(every)) = (&self.out, self.every) {
            return Repeat::run(exporter, path.clone(), every, |what| tell(what));
        }
        let exported = exporter.first()?;
        exported.omitted.iter().for_each(tell);
        match &self.out {
            Some(path) => OutFile::open(path)?.write(&exported.text)?,
            None => print!("{}", exported.text),
        }
        Ok(())
    }
}

/// What is left out, or went wrong and may pass.
fn tell(what: impl std::fmt::Display) {
    eprintln!("terrace: {what}");
}
