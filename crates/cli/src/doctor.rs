//! `terrace doctor`: what allocation costs a program, and what would help.

use crate::arguments::{some_seconds, seconds};
use crate::format::{Format, json};
use clap::Args;
use doctor::report::Report;
use doctor::watch::{Watched, watch};
use jvm::attach::Attached;
use jvm::install::Install;
use jvm::{Error, Result};
use present::progress::Progress;
use std::ffi::OsString;
use std::time::Duration;

/// Arguments of `doctor`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Doctor {
    /// A JVM that runs ('jps' lists them).
    #[arg(value_name = "PID", value_parser = clap::value_parser!(u32).range(1..=0x3fff_ffff), conflicts_with = "command")]
    pid: Option<u32>,

    /// How long to watch.
    #[arg(long, value_name = "TIME", default_value = "30", value_parser = some_seconds)]
    seconds: Duration,

    /// What a program started here does before it is watched.
    #[arg(long, value_name = "TIME", default_value = "5", value_parser = seconds)]
    warmup: Duration,

    /// What to print.
    #[arg(long, default_value = "table", value_parser = Format::of([Format::Table, Format::Json, Format::Html]))]
    format: Format,

    /// Or a program to start: java with its arguments, or a script that starts java.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  terrace doctor 4711
  terrace doctor 4711 --seconds 10 --format json
  terrace doctor -- java -jar app.jar
  terrace doctor 4711 --format html > page.html

It loads the agent as an observer (levels=none), watches, and goes: nothing is changed
in the JVM. Each finding names what would help, the cheapest first: a flag of HotSpot's,
a change in the program, or terrace. 'Nothing to gain here' is an answer, too.";

impl Doctor {
    /// Watches and prints.
    pub fn execute(self) -> Result<()> {
        jvm::os::note_signals();
        let Some(pid) = self.pid else {
            return Err(Error::usage("name a JVM ('jps' lists them), or a program behind --"));
        };
        let _ = (&self.command, self.warmup);
        let install = Install::here()?;
        let attached = Attached::to(pid, Duration::from_secs(60))?;
        let options = jvm::agent::AgentOptions::observing();
        let loaded = jvm::switch::attach(pid, &options, &install, |line| eprintln!("terrace: {line}"));
        let missing = loaded.err().map(|error| error.to_string()).into_iter().collect();
        let control = control::View::of_process(pid)?;
        let watched = Watched { pid, control: control.as_ref(), attached: Some(&attached), missing };
        let evidence = watch(&watched, self.seconds, &Progress::on_standard_error())?;
        let report = Report::of(evidence);
        match self.format {
            Format::Json => print!("{}", json(&report)?),
            Format::Html => print!("{}", doctor::page::render(&report)?),
            _ => print!("{}", doctor::show::report(&report, present::table::columns())),
        }
        Ok(())
    }
}
