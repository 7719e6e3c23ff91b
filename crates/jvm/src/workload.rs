//! The known workloads: their command lines and what they print.

use crate::install::Install;
use crate::jdk::Jdk;
use crate::launch::Launch;
use crate::{Error, Result};
use serde::Deserialize;
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// A program of ours that allocates in a known way, counts its operations and checks its own results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = unknown)]
pub enum Workload {
    /// Threads that allocate arrays of one size.
    Alloc,
    /// Threads that allocate arrays of many sizes.
    Sizes,
    /// `javac` in process, over and over.
    Javac,
    /// A new thread for each task of a few KB.
    Churn,
    /// A thousand threads, most nearly idle.
    Threads,
}

impl Workload {
    /// As the user writes it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Seconds after which its code is compiled: a compiler has much of it.
    pub const fn usual_warmup(self) -> u64 {
        match self {
            Workload::Javac => 10,
            Workload::Alloc | Workload::Sizes | Workload::Churn | Workload::Threads => 3,
        }
    }

    /// Whether it has objects of a size that can be chosen.
    pub const fn has_size(self) -> bool {
        !matches!(self, Workload::Javac)
    }

    /// Whether its sizes can be a list or a mixture.
    pub const fn takes_lengths(self) -> bool {
        matches!(self, Workload::Sizes | Workload::Churn)
    }

    /// What it does, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Workload::Alloc => "threads that allocate arrays and nothing else",
            Workload::Sizes => {
                "threads that allocate arrays of one size, a list of sizes, repeated, or a mixture"
            }
            Workload::Javac => "javac in process over the sources of commons-lang3",
            Workload::Churn => "a new thread for each task, of a few KB or of the given size",
            Workload::Threads => "1,000 threads, most nearly idle",
        }
    }
}

fn unknown(text: &str) -> Error {
    Error::usage(format!("unknown workload '{text}'; choose one of {}", Workload::VARIANTS.join(", ")))
}

/// Lengths of the arrays that `sizes` allocates, or bytes of the tasks of `churn`, in the workload's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// In turn: `100000,64x20`.
    List(String),
    /// Log-uniform: `16..200k`.
    Mixture(String),
}

/// A workload's parameters; what is `None` is left to the workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    pub threads: Option<u32>,
    /// Bytes of an array (`alloc`, `sizes`), of all that a task allocates (`churn`), or a request (`threads`).
    pub size: Option<u64>,
    /// Other lengths than one (`sizes`, `churn`).
    pub lengths: Option<Lengths>,
    /// Operations after which it ends, instead of after `seconds`.
    pub work: Option<u64>,
    /// Seconds that are measured.
    pub seconds: Option<u64>,
    /// Seconds before that.
    pub warmup: Option<u64>,
    /// Whoever reads its progress opens and closes the measured window, whatever the times say.
    pub external_window: bool,
}

/// The command line `java FLAGS -jar terrace-workloads.jar NAME ...`.
pub fn launch(
    workload: Workload,
    parameters: &Parameters,
    jdk: &Jdk,
    flags: &[String],
    (progress, calls): (Option<&Path>, Option<&Path>),
    install: &Install,
) -> Result<Launch> {
    let mut arguments: Vec<OsString> = flags.iter().map(OsString::from).collect();
    arguments.extend(["-jar".into(), install.workloads()?.into_os_string(), workload.name().into()]);
    let mut option = |name: &str, value: Option<OsString>| {
        if let Some(value) = value {
            arguments.extend([name.into(), value]);
        }
    };
    let number = |value: Option<u64>| value.map(|value| value.to_string().into());
    option("--threads", number(parameters.threads.map(u64::from)));
    option("--size", number(parameters.size).filter(|_| parameters.lengths.is_none()));
    match &parameters.lengths {
        Some(Lengths::List(list)) => option("--sizes", Some(list.into())),
        Some(Lengths::Mixture(range)) => option("--mixture", Some(range.into())),
        None => {}
    }
    if parameters.external_window {
        option("--window", Some("external".into()));
    } else {
        option("--operations", number(parameters.work));
        option("--seconds", number(parameters.seconds).filter(|_| parameters.work.is_none()));
        option("--warmup", number(parameters.warmup));
    }
    if workload == Workload::Javac {
        if !jdk.has_compiler {
            return Err(Error::usage(format!(
                "{} has no compiler, which the workload javac needs; specify a full JDK with --java",
                jdk.home.display()
            )));
        }
        option("--sources", Some(install.sources()?.into_os_string()));
    }
    option("--progress", progress.map(|path| path.as_os_str().to_owned()));
    option("--calls", calls.map(|path| path.as_os_str().to_owned()));
    option("--format", Some("json".into()));
    Ok(Launch::new(jdk.java(), arguments))
}

/// Times of the operations of one stretch of time.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
pub struct Stretch {
    #[serde(rename = "stretch")]
    pub number: u64,
    #[serde(rename = "timed_operations")]
    pub operations: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub p999_ms: f64,
}

/// What a workload says of itself on the last line of its output.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Report {
    pub operation: String,
    /// Operations in the measured time.
    pub operations: f64,
    /// The measured time.
    pub seconds: f64,
    /// When it ended, on the clock that [`crate::os::monotonic`] reads.
    #[serde(default)]
    pub ended_nanos: Option<u64>,
    /// CPU time of the whole process in it.
    pub cpu_seconds: Option<f64>,
    pub allocated_bytes: Option<f64>,
    pub collections: Option<u64>,
    /// Time of those.
    pub collection_seconds: Option<f64>,
    /// Bytes allocated for each collection, between the first that was noticed and the last (`sizes`).
    #[serde(default)]
    pub bytes_per_collection: Option<f64>,
    /// Bytes of the heap used up between collections for each byte allocated, waste included (`sizes`).
    #[serde(default)]
    pub heap_used_per_byte: Option<f64>,
    /// Collections between those two (`sizes`).
    #[serde(default)]
    pub marked_collections: Option<u64>,
    /// Times of operations by the stretch that the reader had begun (applications).
    #[serde(default)]
    pub stretches: Vec<Stretch>,
    /// `passed`, or else the run counts for nothing.
    pub checks: String,
}

impl Report {
    /// When the measured time began and ended, on the clock that [`crate::os::monotonic`] reads.
    pub fn measured(&self) -> Option<(Duration, Duration)> {
        let end = Duration::from_nanos(self.ended_nanos?);
        Some((end.saturating_sub(Duration::try_from_secs_f64(self.seconds).ok()?), end))
    }

    /// Reads the last line that is not empty.
    pub fn read(output: &str) -> Result<Report> {
        let report: Report = serde_json::from_str(last_line(output)).map_err(|error| {
            Error::failed(format!(
                "the workload's last line is not a result ({error}); rebuild terrace-workloads.jar with 'cargo xtask build'"
            ))
        })?;
        if report.checks != "passed" {
            return Err(Error::failed(format!(
                "the workload's own checks reported '{}': no ratio is computed",
                report.checks
            )));
        }
        if !(report.seconds > 0.0 && report.operations > 0.0) {
            return Err(Error::failed(
                "the workload completed nothing in the measured time; use a longer --duration",
            ));
        }
        Ok(report)
    }

    /// The same, and that line as it was written, but for the many numbers of its `stretches`.
    pub fn with_line(output: &str) -> Result<(Report, Value)> {
        let report = Report::read(output)?;
        let mut line: Value = serde_json::from_str(last_line(output)).unwrap_or_default();
        if let Some(fields) = line.as_object_mut() {
            fields.remove("stretches");
        }
        Ok((report, line))
    }
}

fn last_line(output: &str) -> &str {
    output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"workload":"alloc","parameters":{"threads":2},"operation":"byte[16] allocated","operations":100,
        "seconds":2.0,"operations_per_second":50.0,"cpu_seconds":4.0,"allocated_bytes":null,"collections":3,
        "collection_seconds":0.1,"checks":"passed"}"#;

    #[test]
    fn the_last_line_is_the_result() {
        let text = format!("warming up\n{}\n\n", LINE.replace('\n', ""));
        let report = Report::read(&text).unwrap();
        assert_eq!((report.operations, report.collections, report.allocated_bytes), (100.0, Some(3), None));
    }

    #[test]
    fn the_line_is_kept_without_its_stretches() {
        let text = LINE.replace('\n', "").replace("{\"workload\"", "{\"stretches\":[],\"workload\"");
        let (report, line) = Report::with_line(&format!("warming up\n{text}\n")).unwrap();
        assert_eq!((report.operations, &line["operations"]), (100.0, &100.into()));
        assert_eq!((&line["workload"], line.get("stretches")), (&"alloc".into(), None));
    }

    #[test]
    fn a_failed_check_or_no_result_is_an_error() {
        let failed = LINE.replace('\n', "").replace("passed", "sum differs");
        assert!(Report::read(&failed).unwrap_err().to_string().contains("sum differs"));
        assert!(Report::read("").unwrap_err().to_string().contains("cargo xtask build"));
        let idle = LINE.replace('\n', "").replace("\"operations\":100", "\"operations\":0");
        assert!(Report::read(&idle).unwrap_err().to_string().contains("longer --duration"));
    }

    #[test]
    fn names() {
        assert_eq!("churn".parse::<Workload>().unwrap(), Workload::Churn);
        assert!(
            "aloc"
                .parse::<Workload>()
                .unwrap_err()
                .to_string()
                .contains("alloc, sizes, javac, churn, threads")
        );
    }
}
