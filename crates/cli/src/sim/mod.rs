//! `terrace sim`.

pub mod arguments;
mod evaluate;
mod explain;
mod list;
pub mod machine;
pub mod page;
pub mod run;
mod sweep;

use clap::{Args, Subcommand};
use jvm::Result;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  terrace sim list                                       the machines and programs
  terrace sim run --machine epyc-9654-2x96 --program xadd --threads 1,2,8,96
  terrace sim sweep --machine paper-4x10x2 --program allocate --threads 1,10,40 --tlab 1k,4k --levels none,core
  terrace sim explain --machine my-server.toml --program allocate --threads 256 --tlab 4k --timeline moves.html

Everything is computed from the machine's description and a seed, not measured: see docs/simulator.md.")]
pub struct Sim {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the included machines and programs.
    List(list::List),
    /// Show all parameters of a machine, each with its range and origin.
    Machine(machine::MachineCommand),
    /// Simulate a program: operations per second, and what its cache lines did.
    Run(run::Run),
    /// Simulate a grid of threads, thread buffers and levels: what the levels gain.
    Sweep(sweep::Sweep),
    /// Show which cache line bounced, between which cores, and what that cost.
    Explain(explain::Explain),
    /// Compare the simulator with published results, or hierarchies of three and four levels with each other.
    Evaluate(evaluate::Evaluate),
}

impl Sim {
    pub fn execute(&self) -> Result<()> {
        match &self.command {
            Command::List(list) => list.execute(),
            Command::Machine(machine) => machine.execute(),
            Command::Run(run) => run.execute(),
            Command::Sweep(sweep) => sweep.execute(),
            Command::Explain(explain) => explain.execute(),
            Command::Evaluate(evaluate) => evaluate.execute(),
        }
    }
}
