//! `terrace compare`: two sides in pairs.

use crate::arguments::{
    BufferArguments, ProgramArguments, milliseconds, percent, seconds, some_milliseconds, some_seconds,
};
use crate::format::{Format, json};
use clap::{Args, ValueEnum};
use compare::side::Side;
use compare::stopping::Precision;
use compare::{Comparison, Method};
use jvm::install::Install;
use jvm::workload::Workload;
use jvm::{Error, Result};
use present::progress::Progress;
use std::path::PathBuf;
use std::time::Duration;

/// What Terrace is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Against {
    /// The same JVM with buffers off: windows inside one JVM.
    Off,
    /// A private buffer for each thread, the best that any hierarchy can do: windows inside one JVM.
    Bound,
    /// A JVM without Terrace: whole JVMs in turn (forks), A B B A.
    Stock,
}

/// Arguments of `compare`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Compare {
    #[command(flatten)]
    program: ProgramArguments,

    #[command(flatten)]
    buffers: BufferArguments,

    /// What Terrace is compared with.
    #[arg(long, value_enum, default_value = "off", help_heading = "Measurement")]
    against: Against,

    /// Compare that with itself: what measuring adds by itself. The interval should include 1 [not against stock].
    #[arg(long, help_heading = "Measurement")]
    control: bool,

    /// Measure until the 95 % intervals are within this of their middle, or --duration is over [not against stock].
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = "Measurement")]
    precision: Option<f64>,

    /// Time measured in all [default: 20s, against stock 60s, with --precision at most 120s].
    #[arg(long, value_name = "TIME", value_parser = some_seconds, help_heading = "Measurement")]
    duration: Option<Duration>,

    /// Time before each JVM is measured [default: 3s, for javac 10s].
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Measurement")]
    warmup: Option<Duration>,

    /// Length of a window; longer where whole calls of javac need it.
    #[arg(long, value_name = "TIME", value_parser = some_milliseconds, default_value = "100ms", help_heading = "Measurement")]
    window: Duration,

    /// What is not counted at the start of a window.
    #[arg(long, value_name = "TIME", value_parser = milliseconds, default_value = "5ms", help_heading = "Measurement")]
    skip: Duration,

    /// Length of a fork, against stock; a program that ends by itself before is measured as a whole.
    #[arg(long, value_name = "TIME", value_parser = some_seconds, default_value = "5s", help_heading = "Measurement")]
    fork_seconds: Duration,

    /// Seed of the random order and of the bootstrap.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Measurement")]
    seed: u64,

    /// What is printed.
    #[arg(long, value_parser = Format::of(Format::BOTH), default_value = "table")]
    format: Format,

    /// Write the result as JSON there as well.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Pass the program's output on to standard error.
    #[arg(long, short)]
    verbose: bool,
}

const EXAMPLES: &str = "\
Examples:
  terrace compare -- java -jar app.jar              on against off for 20 s, then SIGTERM
  terrace compare --workload alloc --gc serial --threads 16 --tlab 1k
  terrace compare --workload javac --against stock  terrace's defaults against stock
  terrace compare --workload alloc --against bound  how far from the best possible
  terrace compare --precision 1.5% -- java -jar app.jar   until 3 % can be told
  terrace compare --control --precision 1.5% -- java -jar app.jar   off against off
  terrace compare --against stock --fork-seconds 60s --duration 10m -- ./build.sh

The metric is the workload's own operations, otherwise bytes allocated; a program that
ends by itself is compared with a stock JVM by its whole time. Inside one JVM a ratio is
the trimmed mean over pairs of neighbouring windows, pauses charged evenly by their
number, CPU time that of the application's own threads (docs/measuring.md); against stock
it is the median over pairs of forks with its bootstrap interval. Intervals are 95 %;
'no significant difference' when that includes 1. If anything fails (exit code, the
workload's own checks, the agent), there is no ratio.";

impl Compare {
    /// Measures and prints.
    pub fn execute(self) -> Result<()> {
        jvm::os::note_signals();
        let (program, flags) = self.program.program()?;
        let forks = self.against == Against::Stock;
        if forks && (self.control || self.precision.is_some()) {
            return Err(Error::usage(
                "--control and --precision are for windows in one JVM; against stock give a longer --duration",
            ));
        }
        let usual = match (forks, self.precision) {
            (true, _) => 60,
            (false, Some(_)) => 120,
            (false, None) => 20,
        };
        let agent = self.buffers.options()?;
        let b = match self.against {
            Against::Off => Side::off(agent.clone()),
            Against::Bound => Side::bound(agent.clone()),
            Against::Stock => Side::stock(),
        };
        let a = if self.control { b.clone() } else { Side::terrace(agent) };
        let comparison = Comparison {
            program,
            sides: [a, b],
            flags,
            method: match forks {
                true => Method::Forks { fork: self.fork_seconds },
                false => Method::Windows {
                    window: self.window,
                    skip: self.skip,
                    precision: self.precision.map(Precision),
                },
            },
            warmup: self
                .warmup
                .unwrap_or(Duration::from_secs(self.program.workload.map_or(3, Workload::usual_warmup))),
            duration: self.duration.unwrap_or(Duration::from_secs(usual)),
            seed: self.seed,
            show: self.verbose,
            install: Install::here()?,
        };
        // Found out before the minutes of measuring, not after.
        let out = self.out.as_ref().map(|path| {
            let file = std::fs::File::create(path);
            file.map_err(|error| {
                Error::usage(format!("--out {}: {error}; name a file that can be written", path.display()))
            })
        });
        let out = out.transpose()?;
        let outcome = comparison.run(&Progress::on_standard_error())?;
        let json = json(&outcome)?;
        if let Some(mut file) = out {
            use std::io::Write;
            write!(file, "{json}").map_err(|error| Error::failed(format!("--out: {error}")))?;
        }
        match self.format {
            Format::Json => print!("{json}"),
            _ => print!("{}", compare::show::outcome(&outcome, present::table::columns())),
        }
        Ok(())
    }
}
