//! The `terrace` command: a thin layer over `doctor`, `compare`, `jvm`, `lab` and `coherence`.

#[macro_use]
mod output;

mod arguments;
mod attach;
mod compare;
mod doctor;
#[cfg(feature = "fleet")]
mod export;
mod format;
#[cfg(feature = "lab")]
mod lab;
#[cfg(feature = "simulator")]
mod plan;
mod run;
mod shell;
#[cfg(feature = "simulator")]
mod sim;
mod status;
#[cfg(feature = "fleet")]
mod top;
mod usage;
mod version;

use clap::{CommandFactory, Parser, Subcommand};
use control::Mode;
use std::process::ExitCode;

/// Allocation buffers for each core, under an unmodified HotSpot JVM.
#[derive(Parser)]
#[command(name = "terrace", version = version::SHORT, long_version = version::LONG.as_str(), arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  terrace doctor 4711                              what allocation costs it, and what would help
  terrace compare -- java -jar app.jar             what they gain: on against off
  terrace compare --b '-XX:TLABSize=4k' -- java -jar app.jar   against stock with a flag
  terrace run -- java -jar app.jar                 your program, with core buffers
  terrace lab run                                  what allocation costs here, in ten minutes
  terrace sim explain --machine paper-4x10x2 --program xadd --threads 40    which cache line bounced
  terrace plan --machine epyc-9654-2x96 --threads 192 --heap 32g           which buffers to use
  terrace attach 4711                              core buffers for a running JVM
  terrace set 4711 core=256k                       change the sizes of its buffers
  terrace status 4711                              what is installed in it, and its counters
  terrace top                                      the allocation of all JVMs on this machine

Exit codes: 0 success, 1 failure (including a comparison in which anything failed), 2 usage error.";

const OFF: &str = "\
The library stays mapped until the JVM ends; 'terrace on PID' switches the buffers on again.
A TLAB size that was chosen with tlab=SIZE stays in HotSpot's flags: small TLABs without
buffers are slower than either, so restart the JVM without the agent instead.";

#[derive(Subcommand)]
enum Command {
    /// Show what allocation costs a program, and what would help: a flag, a change, or terrace.
    Doctor(doctor::Doctor),
    /// Measure what terrace changes, in pairs: a ratio with its 95 % confidence interval.
    Compare(compare::Compare),
    /// Run a Java program with terrace; streams, signals and exit code are the program's own.
    Run(run::Run),
    /// Load terrace into a running JVM.
    Attach(attach::Attach),
    /// Switch the buffers of a running JVM on.
    On(attach::Process),
    /// Switch the buffers of a running JVM off: it allocates as a stock JVM does (a fixed TLAB size stays).
    #[command(after_help = OFF)]
    Off(attach::Process),
    /// Change the sizes of a running JVM's buffers.
    Set(attach::Set),
    /// Show what terrace does in a running JVM, or why it refused.
    Status(status::Status),
    /// Show the allocation of all JVMs on this machine, with terrace and without.
    #[cfg(feature = "fleet")]
    Top(top::Top),
    /// Export the agents' counters to Prometheus or OpenTelemetry.
    #[cfg(feature = "fleet")]
    Export(export::Export),
    /// Recommend buffers for a machine, by simulating a small grid of them.
    #[cfg(feature = "simulator")]
    Plan(plan::PlanCommand),
    /// Simulate allocation on other machines.
    #[cfg(feature = "simulator")]
    Sim(sim::Sim),
    /// Measure every layer of allocation on this machine, and compare with published figures.
    #[cfg(feature = "lab")]
    Lab(lab::Lab),
    /// Print a completion script for a shell.
    Completions(shell::Completions),
    /// Write the manual pages.
    #[command(hide = true)]
    Manual(shell::Manual),
}

fn main() -> ExitCode {
    jvm::os::end_on_closed_pipe();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage::told(&error, &Cli::command()),
    };
    let done = match cli.command {
        Command::Run(run) => run.execute(),
        Command::Compare(compare) => compare.execute(),
        #[cfg(feature = "lab")]
        Command::Lab(lab) => lab.execute(),
        #[cfg(feature = "simulator")]
        Command::Sim(sim) => sim.execute(),
        #[cfg(feature = "simulator")]
        Command::Plan(plan) => plan.execute(),
        Command::Doctor(doctor) => doctor.execute(),
        Command::Attach(attach) => attach.execute(),
        Command::On(process) => attach::switched(&process, Mode::On, "on"),
        Command::Off(process) => attach::switched(&process, Mode::Off, "off"),
        Command::Set(set) => set.execute(),
        Command::Status(status) => status.execute(),
        #[cfg(feature = "fleet")]
        Command::Top(top) => top.execute(),
        #[cfg(feature = "fleet")]
        Command::Export(export) => export.execute(),
        Command::Completions(completions) => completions.execute(),
        Command::Manual(manual) => manual.execute(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("terrace: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Options that say where and how something is told.
    const TELLS: [&str; 6] = ["format", "out", "report", "log", "verbose", "why"];

    fn check(command: &clap::Command) {
        for argument in command.get_arguments() {
            let tells = TELLS.contains(&argument.get_id().as_str());
            let heading = argument.get_help_heading() == Some("Output");
            assert_eq!(tells, heading, "{} {}", command.get_name(), argument.get_id());
        }
        command.get_subcommands().for_each(check);
    }

    #[test]
    fn every_command_lists_what_it_prints_under_the_same_heading() {
        check(&Cli::command());
    }
}
