//! `terrace run`: becomes the program, with the agent in its JVM.

use crate::arguments::{BufferArguments, ProgramArguments, seconds, some_seconds};
use clap::Args;
use jvm::agent::{AgentOptions, absolute};
use jvm::archive;
use jvm::install::Install;
use jvm::loadable;
use jvm::{Error, Result};
use std::time::Duration;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Run {
    #[command(flatten)]
    program: ProgramArguments,

    #[command(flatten)]
    buffers: BufferArguments,

    /// Where counters can be read and buffers switched: auto ('terrace status' finds it), a path (%p is the process
    /// ID), or none.
    #[arg(long, value_name = "auto|PATH|none", default_value = "auto")]
    control: String,

    /// Write the agent's JSON report to PATH when the JVM ends; %p is the process ID, - is standard error.
    #[arg(long, value_name = "PATH", allow_hyphen_values = true, help_heading = "Output")]
    report: Option<String>,

    /// Do not start the JVM if terrace cannot be installed as requested; otherwise the program runs without it.
    #[arg(long)]
    strict: bool,

    /// Log level of the agent on standard error: error, warn, info or debug.
    #[arg(long, value_name = "LEVEL", value_parser = ["error", "warn", "info", "debug"], help_heading = "Output")]
    log: Option<String>,

    /// Measured time of the workload [default: depends on the workload].
    #[arg(long, value_name = "TIME", value_parser = some_seconds, help_heading = "Workload")]
    duration: Option<Duration>,

    /// Warm-up of the workload [default: depends on the workload].
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Workload")]
    warmup: Option<Duration>,

    /// Print the started command line to standard error.
    #[arg(long, short, help_heading = "Output")]
    verbose: bool,
}

const EXAMPLES: &str = "\
Examples:
  terrace run -- java -jar app.jar
  terrace run --tlab 2k --core 256k -- java -jar app.jar
  terrace run --report report.json -- java -jar app.jar
  terrace run -- ./mvnw verify
  terrace run --workload alloc --gc parallel --threads 8 --tlab 1k

The program replaces this process: process ID, streams, signals and exit code are its
own. While it runs: terrace status PID. A script passes the agent to every JVM that it
starts; each prints 'Picked up JAVA_TOOL_OPTIONS', which is HotSpot's own message. A build
tool's daemon that it starts keeps the agent for later builds, and one that runs already
never gets it: use --no-daemon.";

impl Run {
    pub fn execute(self) -> Result<()> {
        let timed = self.duration.is_some() || self.warmup.is_some();
        if timed && self.program.workload.is_none() {
            return Err(Error::usage(
                "--duration and --warmup apply only to --workload; a program of your own determines how long it runs",
            ));
        }
        jvm::os::outlive_closed_pipes();
        // A program is started whatever has become of Terrace's files.
        let here = Install::here();
        let library = here.as_ref().map_err(Clone::clone).and_then(Install::agent);
        let install = here.unwrap_or_else(|_| Install::at(vec![]));
        let (mut program, jvm_flags) = self.program.program()?;
        let control = (self.control != "none").then(|| absolute(&self.control)).transpose()?;
        let report = self.report.as_deref().map(absolute).transpose()?;
        let options =
            AgentOptions { control, report, strict: self.strict, log: self.log, ..self.buffers.options()? };
        let agent = library.as_ref().ok().map(|library| options.flag(library)).transpose()?;
        if let compare::Program::Workload(_, parameters, _) = &mut program {
            let whole = |time: Duration| time.as_secs_f64().ceil() as u64;
            parameters.seconds = self.duration.map(whole);
            parameters.warmup = self.warmup.map(whole);
        }
        let without = program.launch(&jvm_flags, None, None, &install)?;
        let obstacle = match (&library, archive::written_by(&without)) {
            (Err(error), _) => Some(error.to_string()),
            (_, Some(option)) => Some(format!(
                "{option} writes a class data archive, which HotSpot does not do with any native agent; use terrace when the archive is used"
            )),
            (Ok(library), None) => {
                loadable::check(library, &without.program).err().map(|error| error.to_string())
            }
        };
        let launch = match obstacle {
            None => {
                let flags = agent.into_iter().chain(jvm_flags).collect::<Vec<_>>();
                program.launch(&flags, None, None, &install)?
            }
            Some(why) if self.strict => {
                return Err(Error::usage(format!("{why}; leave out --strict to start without terrace")));
            }
            Some(why) => {
                eprintln!("terrace: starting without terrace: {why}");
                without
            }
        };
        if self.verbose {
            eprintln!("terrace: starting {}", launch.describe());
        }
        Err::<(), Error>(launch.become_it())
    }
}
