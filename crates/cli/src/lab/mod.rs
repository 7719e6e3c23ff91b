//! `terrace lab`.

mod diff;
mod list;
mod machine;
mod report;
mod run;

use clap::{Args, Subcommand};
use jvm::Result;

#[derive(Args, Debug)]
pub struct Lab {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the experiments: what each asks, and how long it takes.
    List(list::List),
    /// Run experiments and write a report: tables here; results.json, CSV and one HTML page in a directory.
    Run(run::Run),
    /// Show the results in a directory again, and rewrite its page.
    Report(report::Report),
    /// Compare two runs: what changed significantly.
    Diff(diff::Diff),
    /// Print the machine of a run as a file for the simulator.
    Machine(machine::MachineCommand),
}

impl Lab {
    pub fn execute(&self) -> Result<()> {
        match &self.command {
            Command::List(list) => list.execute(),
            Command::Run(run) => run.execute(),
            Command::Report(report) => report.execute(),
            Command::Diff(diff) => diff.execute(),
            Command::Machine(machine) => machine.execute(),
        }
    }
}
