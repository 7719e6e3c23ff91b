//! Options that `run` and `compare` share.

use clap::Args;
use compare::Program;
use compare::forks::Schedule;
use jvm::agent::{AgentOptions, BufferSize, Levels, Tlab};
use jvm::jdk::{self, Collector, Jdk};
use jvm::workload::{Lengths, Parameters, Workload};
use jvm::{Error, Result};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The program.
#[derive(Args, Clone, Debug)]
pub struct ProgramArguments {
    /// A workload that terrace includes: alloc, sizes, javac, churn or threads.
    #[arg(long, value_name = "NAME", value_parser = parse::<Workload>, conflicts_with = "command")]
    pub workload: Option<Workload>,

    /// The JDK for --workload: its directory or its bin/java [default: the newest found].
    #[arg(long, value_name = "HOME", help_heading = "Workload")]
    pub java: Option<PathBuf>,

    /// Worker threads of the workload.
    #[arg(long, value_name = "N", value_parser = positive, help_heading = "Workload")]
    pub threads: Option<u32>,

    /// Bytes per array (alloc, sizes), or bytes allocated per task (churn) or request (threads).
    #[arg(long, value_name = "SIZE", value_parser = jvm::size::parse, help_heading = "Workload")]
    pub size: Option<u64>,

    /// Lengths of arrays (sizes) or bytes per task (churn), repeated cyclically: 100000,64x20 is one of 100,000 bytes, then twenty of 64.
    #[arg(long, value_name = "LIST", conflicts_with = "size", help_heading = "Workload")]
    pub sizes: Option<String>,

    /// Like --sizes, but log-uniformly distributed over a range, such as 16..200k.
    #[arg(long, value_name = "RANGE", conflicts_with_all = ["size", "sizes"], help_heading = "Workload")]
    pub mixture: Option<String>,

    /// The collector: serial, parallel, g1, shenandoah, epsilon or z [default: the JVM's choice].
    #[arg(long, value_name = "NAME", value_parser = parse::<Collector>, help_heading = "JVM")]
    pub gc: Option<Collector>,

    /// A flag for each JVM that is started; may be repeated: --jvm-arg=-Xmx512m.
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true, help_heading = "JVM")]
    pub jvm_arg: Vec<String>,

    /// The program: java with its arguments, or a script or build tool that starts java (it is reached through
    /// JAVA_TOOL_OPTIONS).
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// The agent's settings.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Buffers")]
pub struct BufferArguments {
    /// TLABs: a fixed size, auto (terrace's choice) or stock (HotSpot's growing strategy).
    #[arg(long, value_name = "SIZE|auto|stock", default_value = "auto", value_parser = parse::<Tlab>)]
    pub tlab: Tlab,

    /// Buffers between thread and heap: core, processor, core+processor or none (only count) [default: core; a JVM with
    /// -XX:-UseTLAB gets none].
    #[arg(long, value_parser = parse::<Levels>)]
    pub levels: Option<Levels>,

    /// Size of a core's buffer; auto adapts at collections, formula does not.
    #[arg(long, value_name = "SIZE|auto|formula", default_value = "auto", value_parser = parse::<BufferSize>)]
    pub core: BufferSize,

    /// Size of a processor's buffer.
    #[arg(long, value_name = "SIZE|auto|formula", default_value = "auto", value_parser = parse::<BufferSize>)]
    pub processor: BufferSize,
}

impl ProgramArguments {
    /// An option that was given and changes how a program is started.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            ("--java", self.java.is_some()),
            ("--threads", self.threads.is_some()),
            ("--size", self.size.is_some()),
            ("--sizes", self.sizes.is_some()),
            ("--mixture", self.mixture.is_some()),
            ("--gc", self.gc.is_some()),
            ("--jvm-arg", !self.jvm_arg.is_empty()),
        ];
        options.into_iter().find_map(|(name, given)| given.then_some(name))
    }

    /// How pairs of its JVMs run unless it is said: what is ours can run twice at the same time, while a user's program may share ports, files or a
    /// database with its second self.
    pub fn usual_schedule(&self) -> Schedule {
        if self.workload.is_some() { Schedule::Concurrent } else { Schedule::Interleaved }
    }

    fn lengths(&self) -> Option<Lengths> {
        let list = self.sizes.clone().map(Lengths::List);
        list.or_else(|| self.mixture.clone().map(Lengths::Mixture))
    }

    /// The program and the flags for its JVM.
    pub fn program(&self) -> Result<(Program, Vec<String>)> {
        let (program, mut flags) = match self.workload {
            Some(workload) => {
                if self.size.is_some() && !workload.has_size() {
                    return Err(Error::usage(format!(
                        "--workload {} has no --size; leave it out",
                        workload.name()
                    )));
                }
                if !workload.takes_lengths() && self.lengths().is_some() {
                    return Err(Error::usage(
                        "--sizes and --mixture are for --workload sizes and churn; leave them out, or use one of these",
                    ));
                }
                let jdk = match &self.java {
                    Some(path) => Jdk::at(path).map_err(|error| Error::usage(format!("--java {error}")))?,
                    None => jdk::newest()?,
                };
                let flags = self.gc.map(|gc| jdk.select(gc)).transpose()?.unwrap_or_default();
                let lengths = self.lengths();
                let parameters =
                    Parameters { threads: self.threads, size: self.size, lengths, ..Parameters::default() };
                (Program::Workload(workload, parameters, jdk), flags)
            }
            None if self.command.is_empty() => {
                return Err(Error::usage(
                    "no program given; write it after --, such as -- java -jar app.jar, or use an included workload: --workload alloc",
                ));
            }
            // Not left to clap, which forgets what an option requires when that conflicts with something given.
            None if self.java.is_some() => {
                return Err(Error::usage(
                    "--java applies only to --workload; after --, specify the java itself",
                ));
            }
            None if self.threads.is_some() || self.size.is_some() || self.lengths().is_some() => {
                return Err(Error::usage(
                    "--threads, --size, --sizes and --mixture apply only to --workload; leave them out, or specify a workload",
                ));
            }
            None => {
                (Program::Command(self.command.clone()), self.gc.map(Collector::flags).unwrap_or_default())
            }
        };
        flags.extend(self.jvm_arg.iter().cloned());
        Ok((program, flags))
    }
}

impl BufferArguments {
    /// As the agent's options, with the rest at its defaults.
    pub fn options(&self) -> Result<AgentOptions> {
        let levels = self.levels.unwrap_or(Levels::Core);
        let lacks = |name: &str, needs: &str| {
            Err(Error::usage(format!(
                "--{name} has no meaning with --levels {}; use --levels {needs}",
                levels.name()
            )))
        };
        if self.core != BufferSize::Auto && !matches!(levels, Levels::Core | Levels::Both) {
            return lacks("core", "core");
        }
        if self.processor != BufferSize::Auto && !matches!(levels, Levels::Processor | Levels::Both) {
            return lacks("processor", "processor or core+processor");
        }
        Ok(AgentOptions {
            levels: self.levels,
            core: self.core,
            processor: self.processor,
            tlab: self.tlab,
            ..AgentOptions::default()
        })
    }
}

pub fn parse<T: std::str::FromStr<Err = Error>>(text: &str) -> Result<T> {
    text.parse()
}

fn positive(text: &str) -> Result<u32> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| Error::usage("use a number of 1 or more"))
}

/// `20`, `20s`, `100ms`, `2m`; a plain number counts in `unit`.
fn time(text: &str, unit: Duration) -> Result<Duration> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => unit,
        "ms" => Duration::from_millis(1),
        "s" => Duration::from_secs(1),
        "m" | "min" => Duration::from_secs(60),
        _ => Duration::ZERO,
    };
    let number =
        digits.parse::<f64>().ok().filter(|number| number.is_finite() && (0.0..=1e6).contains(number));
    match number {
        Some(number) if !unit.is_zero() => Ok(unit.mul_f64(number)),
        _ => Err(Error::usage(format!(
            "'{text}' is not a valid time; write a number with ms, s or m, such as 20s"
        ))),
    }
}

/// A time in seconds unless it says otherwise.
pub fn seconds(text: &str) -> Result<Duration> {
    time(text, Duration::from_secs(1))
}

/// The same, not zero.
pub fn some_seconds(text: &str) -> Result<Duration> {
    seconds(text).and_then(|time| some(text, time))
}

/// `1.5%`, or `1.5`: half of an interval's width, as a share.
pub fn percent(text: &str) -> Result<f64> {
    let number = text.trim_end_matches('%').trim().parse::<f64>().ok();
    number.filter(|number| (0.05..=50.0).contains(number)).map(|number| number / 100.0).ok_or_else(|| {
        Error::usage(format!(
            "'{text}' is not a valid precision; use a percentage from 0.05 to 50, such as 1.5%"
        ))
    })
}

/// A time in milliseconds unless it says otherwise.
pub fn milliseconds(text: &str) -> Result<Duration> {
    time(text, Duration::from_millis(1))
}

/// The same, not zero.
pub fn some_milliseconds(text: &str) -> Result<Duration> {
    milliseconds(text).and_then(|time| some(text, time))
}

fn some(text: &str, time: Duration) -> Result<Duration> {
    if time >= Duration::from_millis(1) {
        Ok(time)
    } else {
        Err(Error::usage(format!("'{text}' is too short; write 1ms or more")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        assert_eq!(seconds("20").unwrap(), Duration::from_secs(20));
        assert_eq!(seconds("1.5m").unwrap(), Duration::from_secs(90));
        assert_eq!(milliseconds("100").unwrap(), Duration::from_millis(100));
        assert_eq!(milliseconds("2s").unwrap(), Duration::from_secs(2));
        for text in ["", "s", "-1", "1h", "nan", "inf", "1e99"] {
            assert!(seconds(text).unwrap_err().to_string().contains("such as 20s"), "{text}");
        }
        assert!(some_seconds("0").is_err() && seconds("0").is_ok());
        assert_eq!((percent("1.5%").unwrap(), percent("3").unwrap()), (0.015, 0.03));
        for text in ["", "%", "0", "-1%", "80%", "nan"] {
            assert!(percent(text).unwrap_err().to_string().contains("such as 1.5%"), "{text}");
        }
    }
}
