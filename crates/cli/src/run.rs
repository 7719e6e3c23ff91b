//! `terrace run`: becomes the program, with the agent in its JVM.

use crate::arguments::{BufferArguments, ProgramArguments, seconds, some_seconds};
use clap::Args;
use jvm::agent::{AgentOptions, absolute};
use jvm::archive;
use jvm::install::Install;
use jvm::loadable;
use jvm::{Error, Result};
use std::time::Duration;

/// Arguments of `run`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Run {
    #[command(flatten)]
    program: ProgramArguments,

    #[command(flatten)]
    buffers: BufferArguments,

    /// Where counters can be watched and buffers switched: auto (what 'terrace status' finds), a path (%p is the process
    /// number), or none.
    #[arg(long, value_name = "auto|PATH|none", default_value = "auto")]
    control: String,

    /// Write the agent's JSON report there when the JVM ends; %p is the process ID, - is standard error.
    #[arg(long, value_name = "PATH", allow_hyphen_values = true, help_heading = "Output")]
    report: Option<String>,

    /// Do not start the JVM when terrace cannot do what is asked; otherwise the program runs without it.
    #[arg(long)]
    strict: bool,

    /// What the agent tells on standard error: error, warn, info or debug.
    #[arg(long, value_name = "LEVEL", value_parser = ["error", "warn", "info", "debug"], help_heading = "Output")]
    log: Option<String>,

    /// How long the workload measures itself [default: its own].
    #[arg(long, value_name = "TIME", value_parser = some_seconds, help_heading = "Workload")]
    duration: Option<Duration>,

    /// How long the workload warms up [default: its own].
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Workload")]
    warmup: Option<Duration>,

    /// Tell on standard error what is started.
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

The program takes the place of this process: number, streams, signals and exit code
are its own. While it runs: terrace status PID. In a script every JVM is reached, and
each says 'Picked up JAVA_TOOL_OPTIONS': that line is HotSpot's own.";

impl Run {
    /// Does not return if all is well.
    pub fn execute(self) -> Result<()> {
        let timed = self.duration.is_some() || self.warmup.is_some();
        if timed && self.program.workload.is_none() {
            return Err(Error::usage(
                "--duration and --warmup are for --workload; your own program runs as long as it likes",
            ));
        }
        let install = Install::here()?;
        let (mut program, jvm_flags) = self.program.program()?;
        let control = (self.control != "none").then(|| absolute(&self.control)).transpose()?;
        let report = self.report.as_deref().map(absolute).transpose()?;
        let options =
            AgentOptions { control, report, strict: self.strict, log: self.log, ..self.buffers.options()? };
        let library = install.agent()?;
        let agent = options.flag(&library)?;
        if let compare::Program::Workload(_, parameters, _) = &mut program {
            let whole = |time: Duration| time.as_secs_f64().ceil() as u64;
            parameters.seconds = self.duration.map(whole);
            parameters.warmup = self.warmup.map(whole);
        }
        let without = program.launch(&jvm_flags, None, None, &install)?;
        let obstacle = match archive::written_by(&without) {
            Some(option) => Some(format!(
                "{option} writes a class data archive, which HotSpot does not do with any native agent; use terrace when the archive is used"
            )),
            None => loadable::check(&library, &without.program).err().map(|error| error.to_string()),
        };
        let launch = match obstacle {
            None => program.launch(&[vec![agent], jvm_flags].concat(), None, None, &install)?,
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
