//! `terrace compare`: two sides in pairs.

use crate::arguments::{
    BufferArguments, ProgramArguments, milliseconds, percent, seconds, some_milliseconds, some_seconds,
};
use crate::format::{Format, json};
use clap::Args;
use compare::forks::Schedule;
use compare::stopping::Precision;
use compare::{Comparison, Method, words};
use jvm::agent::AgentOptions;
use jvm::install::Install;
use jvm::out_file::OutFile;
use jvm::workload::Workload;
use jvm::{Error, Result};
use present::progress::Progress;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Compare {
    #[command(flatten)]
    program: ProgramArguments,

    #[command(flatten)]
    buffers: BufferArguments,

    /// Side a: terrace with its settings, stock, off or bound, each followed by JVM flags, or JVM flags alone.
    #[arg(
        long,
        value_name = "SIDE",
        default_value = "terrace",
        allow_hyphen_values = true,
        help_heading = "Sides"
    )]
    a: String,

    /// Side b, with which side a is compared.
    #[arg(
        long,
        value_name = "SIDE",
        default_value = "off",
        allow_hyphen_values = true,
        help_heading = "Sides"
    )]
    b: String,

    /// Short for --b off, bound or stock.
    #[arg(long, value_parser = ["off", "bound", "stock"], conflicts_with = "b", help_heading = "Sides")]
    against: Option<String>,

    /// Compare side b with itself, to see the error of the measurement: the interval should include 1.
    #[arg(long, conflicts_with = "a", help_heading = "Sides")]
    control: bool,

    /// Compare separate JVMs, even if one JVM could be switched between both sides. The two of a pair run one after the
    /// other (interleaved) or at the same time (concurrent), which scatters less but starts the program twice: with the
    /// same ports, files and databases [default: interleaved; concurrent for --workload].
    #[arg(long, value_name = "SCHEDULE", num_args = 0..=1, require_equals = true, value_parser = crate::arguments::parse::<Schedule>, help_heading = "Measurement")]
    forks: Option<Option<Schedule>>,

    /// Measure until the half-width of the 95 % intervals is at most this, or --duration is over [not in forks].
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = "Measurement")]
    precision: Option<f64>,

    /// Total measured time [default: 20s, in forks 60s, with --precision at most 120s].
    #[arg(long, value_name = "TIME", value_parser = some_seconds, help_heading = "Measurement")]
    duration: Option<Duration>,

    /// Warm-up before each JVM is measured [default: 3s, for javac 10s].
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Measurement")]
    warmup: Option<Duration>,

    /// Length of a window; extended to the length of a call of javac [default: 100ms; not in forks].
    #[arg(long, value_name = "TIME", value_parser = some_milliseconds, help_heading = "Measurement")]
    window: Option<Duration>,

    /// Time to ignore at the start of each window [default: 5ms; not in forks].
    #[arg(long, value_name = "TIME", value_parser = milliseconds, help_heading = "Measurement")]
    skip: Option<Duration>,

    /// Measured time per fork; a program that exits earlier is measured as a whole [default: 5s; only in forks].
    #[arg(long, value_name = "TIME", value_parser = some_seconds, help_heading = "Measurement")]
    fork_seconds: Option<Duration>,

    /// Seed for the random order and the bootstrap [default: another one in each run]
    #[arg(long, value_name = "N", help_heading = "Measurement")]
    seed: Option<u64>,

    /// Output format.
    #[arg(long, value_parser = Format::of(Format::BOTH), default_value = "table", help_heading = "Output")]
    format: Format,

    /// Also write the result as JSON to FILE.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,

    /// Pass the program's output to standard error.
    #[arg(long, short, help_heading = "Output")]
    verbose: bool,
}

const EXAMPLES: &str = "\
Examples:
  terrace compare -- java -jar app.jar              on against off for 20 s, then SIGTERM
  terrace compare --workload alloc --gc serial --threads 16 --tlab 1k
  terrace compare --workload javac --b stock        terrace's defaults against stock
  terrace compare --b '-XX:TLABSize=4k' -- java -jar app.jar   against stock with a flag
  terrace compare --a '-XX:+UseNUMA' --b stock -- java -jar app.jar   what a flag does
  terrace compare --a 'terrace core=512k -Xmn1g' --b 'stock -Xmn1g' -- java -jar app.jar
  terrace compare --workload alloc --b bound        how far from the best possible
  terrace compare --precision 1.5% -- java -jar app.jar   until 3 % can be detected
  terrace compare --control --precision 1.5% -- java -jar app.jar   off against off
  terrace compare --b stock --fork-seconds 60s --duration 10m -- ./build.sh
  terrace compare --forks=concurrent --b '-XX:TLABSize=4k' -- java -jar app.jar   if it can run twice

A side is one word: terrace with its settings as key=value, or stock, off, bound; then
JVM flags. Flags alone mean stock with these flags. Off and bound are the other side's
JVM, switched. Sides that one JVM can be are measured in windows inside it, all others
in forks: separate JVMs, in pairs whose order is random and balanced. Both of a pair can run
at the same time (--forks=concurrent) where the program's ports and files allow two of it;
they then share the CPUs, and each takes twice as long.

Programs are started with nothing to read (standard input is empty) and without a terminal.

The metric is the workload's own operations, otherwise bytes allocated; a program that
ends by itself is compared in forks by its whole time. Inside one JVM a ratio is the
trimmed mean over pairs of neighbouring windows, pauses charged in proportion to the
heap used up, CPU time that of the application's threads; in forks it is the median over
pairs, with its 95 % interval (docs/measuring.md). All intervals are 95 %; 'no significant
difference' when that includes 1. If anything fails (exit code, the workload's own
checks, the agent), there is no ratio.";

/// Lengths where none are asked for.
const WINDOW: Duration = Duration::from_millis(100);
const SKIP: Duration = Duration::from_millis(5);
const FORK: Duration = Duration::from_secs(5);

impl Compare {
    /// An option that would not be used is an error: who gives it expects something of it.
    fn refuse_of_the_other_method(&self, forks: bool) -> Result<()> {
        let of_windows = [
            ("--precision", self.precision.is_some(), "use a longer --duration"),
            ("--window", self.window.is_some(), "use --fork-seconds"),
            ("--skip", self.skip.is_some(), "use --warmup"),
        ];
        if let Some((name, _, remedy)) = of_windows.iter().find(|(_, given, _)| forks && *given) {
            return Err(Error::usage(format!("{name} applies to windows in one JVM; in forks {remedy}")));
        }
        if !forks && self.fork_seconds.is_some() {
            return Err(Error::usage(
                "--fork-seconds applies to forks, and these sides are compared in one JVM; omit it, or add --forks",
            ));
        }
        Ok(())
    }

    pub fn execute(self) -> Result<()> {
        jvm::os::note_signals();
        jvm::os::outlive_closed_pipes();
        let (program, flags) = self.program.program()?;
        let agent = self.buffers.options()?;
        let b = self.against.as_ref().unwrap_or(&self.b);
        let a = if self.control { b } else { &self.a };
        let sides = words::sides([a, b], &agent)?;
        let [a, b] = &sides;
        if agent != AgentOptions::default() && a.agent.is_none() && b.agent.is_none() {
            return Err(Error::usage(
                "--tlab, --levels, --core and --processor are settings of terrace, which is on neither side; leave them out, or \
                 write --a terrace",
            ));
        }
        let forks = self.forks.is_some() || !a.shares_jvm(b);
        self.refuse_of_the_other_method(forks)?;
        let usual = match (forks, self.precision) {
            (true, _) => 60,
            (false, Some(_)) => 120,
            (false, None) => 20,
        };
        let comparison = Comparison {
            program,
            sides,
            flags,
            method: match forks {
                true => Method::Forks {
                    fork: self.fork_seconds.unwrap_or(FORK),
                    schedule: self.forks.flatten().unwrap_or_else(|| self.program.usual_schedule()),
                },
                false => Method::Windows {
                    window: self.window.unwrap_or(WINDOW),
                    skip: self.skip.unwrap_or(SKIP),
                    precision: self.precision.map(Precision),
                },
            },
            warmup: self
                .warmup
                .unwrap_or(Duration::from_secs(self.program.workload.map_or(3, Workload::usual_warmup))),
            duration: self.duration.unwrap_or(Duration::from_secs(usual)),
            seed: self.seed.unwrap_or_else(compare::another_seed),
            show: self.verbose,
            install: Install::here()?,
        };
        // Found out before the minutes of measuring, not after.
        let out = self.out.as_deref().map(OutFile::open).transpose()?;
        let outcome = comparison.run(&Progress::on_standard_error())?;
        let json = json(&outcome)?;
        out.map_or(Ok(()), |out| out.write(&json))?;
        match self.format {
            Format::Json => print!("{json}"),
            _ => print!("{}", compare::show::outcome(&outcome, present::table::columns())),
        }
        Ok(())
    }
}
