//! `terrace doctor`: what allocation costs a program, and what would help.

use crate::arguments::{ProgramArguments, seconds, some_seconds};
use crate::format::{Format, json};
use clap::Args;
use compare::forks::Schedule;
use doctor::report::Report;
use doctor::start::watch_program;
use doctor::verify::Trials;
use doctor::watch::watch_process;
use jvm::install::Install;
use jvm::{Error, Result};
use present::progress::Progress;
use std::time::Duration;

/// Before a program started here is watched.
const WARMUP: Duration = Duration::from_secs(5);

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Doctor {
    /// A running JVM ('terrace top' lists them); or specify a program after --.
    #[arg(value_name = "PID", value_parser = crate::usage::process_number)]
    pid: Option<u32>,

    #[command(flatten)]
    program: ProgramArguments,

    /// How long to watch.
    #[arg(long, value_name = "TIME", default_value = "30", value_parser = some_seconds)]
    seconds: Duration,

    /// Warm-up of a program that is started here, before it is watched [default: 5].
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    warmup: Option<Duration>,

    /// Try each remedy in the given program, and compare its effect with the expected one. In a running JVM only terrace can be
    /// tried; it is withdrawn at a collection.
    #[arg(long)]
    verify: bool,

    /// How long to measure each remedy.
    #[arg(long, value_name = "TIME", default_value = "60", value_parser = some_seconds, requires = "verify")]
    duration: Duration,

    /// With --verify: measured time of each JVM with a flag, and of each without [default: 3, and more where collections are rare, as far
    /// as --duration has room].
    #[arg(long, value_name = "TIME", value_parser = some_seconds, requires = "verify")]
    fork_seconds: Option<Duration>,

    /// With --verify: JVMs with a flag and without run one after the other (interleaved) or at the same time (concurrent), if the
    /// program can run twice [default: interleaved; concurrent for --workload].
    #[arg(long, value_name = "SCHEDULE", value_parser = crate::arguments::parse::<Schedule>, requires = "verify")]
    forks: Option<Schedule>,

    /// Output format.
    #[arg(long, value_parser = Format::of([Format::Table, Format::Json, Format::Html]), default_value = "table", help_heading = "Output")]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  terrace doctor 4711
  terrace doctor 4711 --seconds 10 --format json
  terrace doctor 4711 --format html > page.html
  terrace doctor 4711 --verify                       terrace on and off, then gone
  terrace doctor -- java -jar app.jar
  terrace doctor --verify -- java -jar app.jar       tries what it advises
  terrace doctor --workload churn --gc parallel

It loads the agent as an observer (levels=none), watches, and withdraws it. A running JVM
keeps the library mapped, is stopped for four thread dumps, and from JDK 21 on needs 0.1 µs
more for each switch of a virtual thread until it ends. A program after -- is started with
nothing to read, and ended with SIGTERM after it was watched; if the doctor is killed, it is
killed, too, but not a JVM that a script has started.

Each finding lists remedies, the cheapest first: a HotSpot flag, a change in the program,
or terrace, with the expected effect: collections and speed relative to the current state.
'Nothing to gain here' is a possible answer.

--verify tries flags in separate JVMs, a dozen or more for each flag, interleaved with
stock ones (as 'terrace compare' does) or, with --forks=concurrent, at the same time, and
terrace in windows inside one JVM.";

impl Doctor {
    pub fn execute(self) -> Result<()> {
        jvm::os::note_signals();
        jvm::os::outlive_closed_pipes();
        let (install, progress) = (Install::here()?, Progress::on_standard_error());
        let given = self.program.workload.is_some() || !self.program.command.is_empty();
        // What was watched is shown, whatever becomes of the trials and the observer.
        let (mut tried, mut withdrawn) = (Ok(()), Ok(()));
        let report = match (self.pid, given) {
            (Some(_), true) => {
                return Err(Error::usage("specify a PID or a program, not both"));
            }
            (None, false) => {
                return Err(Error::usage(
                    "specify a JVM by its PID ('terrace top' lists them), or a program after --, such as -- java -jar app.jar",
                ));
            }
            (Some(pid), false) => {
                let given = [
                    self.warmup.map(|_| "--warmup"),
                    self.forks.map(|_| "--forks"),
                    self.fork_seconds.map(|_| "--fork-seconds"),
                ];
                let own = given.into_iter().flatten().next();
                if let Some(name) = self.program.given().or(own) {
                    return Err(Error::usage(format!(
                        "{name} applies to a program that is started here; leave it out, or specify a program instead of a PID"
                    )));
                }
                let tell = |line: &str| eprintln!("terrace: {line}");
                let evidence;
                (evidence, withdrawn) = watch_process(pid, self.seconds, &install, tell, &progress)?;
                let mut report = Report::of(evidence);
                if self.verify {
                    tried = doctor::verify::in_place(&report, self.duration, &install, &progress)
                        .map(|trials| report.trials = trials);
                }
                report
            }
            (None, true) => {
                let (program, flags) = self.program.program()?;
                let warmup = self.warmup.unwrap_or(WARMUP);
                let times = (warmup, self.seconds);
                let mut report =
                    Report::of_started(watch_program(&program, &flags, times, &install, &progress)?);
                if self.verify {
                    let trials = Trials {
                        program: &program,
                        flags: &flags,
                        warmup,
                        duration: self.duration,
                        fork: self.fork_seconds,
                        seed: compare::another_seed(),
                        schedule: self.forks.unwrap_or_else(|| self.program.usual_schedule()),
                        install: &install,
                    };
                    tried = trials.run(&mut report, &progress);
                }
                report
            }
        };
        match self.format {
            Format::Json => print!("{}", json(&report)?),
            Format::Html => print!("{}", doctor::page::render(&report)?),
            _ => {
                print!("{}", doctor::show::report(&report, present::table::columns(), present::table::rows()))
            }
        }
        tried.and_then(|()| report.check_trials()).and(withdrawn)
    }
}
