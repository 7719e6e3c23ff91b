//! What the doctor advises for each workload and real program, what it expects of that, and what trying it gives.

use crate::files::{create, text, write};
use crate::measure::publish;
use crate::places::{folder, installed};
use crate::shell::root;
use crate::{applications, build, child};
use doctor::finding::Remedy;
use jvm::application::{APPLICATIONS, Application};
use jvm::jdk::{Collector, Jdk};
use jvm::workload::Workload;
use jvm::{Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

/// Options of `advice`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only these programs or workloads; may be repeated.
    #[arg(long, value_parser = known_program)]
    program: Vec<String>,

    /// Only this collector: g1 or parallel.
    #[arg(long, value_parser = compared_collector)]
    gc: Option<Collector>,

    /// Only this heap of the real programs: small or ample.
    #[arg(long, value_parser = ["small", "ample"])]
    heap: Option<String>,

    /// Seconds for each remedy.
    #[arg(long, default_value_t = 36, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,

    /// Go on with the last run: programs that have a report by this build are not run again.
    #[arg(long)]
    resume: bool,
}

/// Seconds for which the doctor watches.
const WATCHED: u64 = 10;
/// Those that are compared.
pub const COLLECTORS: [Collector; 2] = [Collector::G1, Collector::Parallel];
const WORKLOADS: [Workload; 5] =
    [Workload::Alloc, Workload::Sizes, Workload::Javac, Workload::Churn, Workload::Threads];
/// Their heap.
const HEAP: &str = "-Xmx512m";
/// What is compared: its name, the metrics that have it, the first that is there, the expectation, and what that may be off by, as a factor. A remedy that leaves
/// eden as it is has one number of collections: both are relative to the JVM that was watched.
const WITHIN: [(&str, &[&str], &str, f64); 3] = [
    ("collections", &["collections"], "expected_collections", 1.10),
    ("collections relative to the watched JVM", &["collections_of_watched"], "expected_collections", 1.10),
    ("speed", &["speed"], "expected_speed", 1.03),
];
/// A remedy whose interval lies below this does harm.
const LOSS: f64 = 0.99;

fn known_program(name: &str) -> Result<String> {
    let names =
        WORKLOADS.into_iter().map(Workload::name).chain(APPLICATIONS.iter().map(|program| program.name));
    let names: Vec<&str> = names.collect();
    match names.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(Error::usage(format!("choose one of {}", names.join(", ")))),
    }
}

pub fn compared_collector(name: &str) -> Result<Collector> {
    let collector = name.parse().ok().filter(|collector| COLLECTORS.contains(collector));
    collector.ok_or_else(|| Error::usage("choose g1 or parallel"))
}

/// A program under the doctor.
struct Patient {
    name: &'static str,
    heap: &'static str,
    warmup: u64,
    arguments: Vec<OsString>,
}

/// Runs the doctor on each, and tabulates what it expected and found.
pub fn run(arguments: &Arguments) -> Result<()> {
    build::all()?;
    applications::fetch()?;
    let jdk = jvm::jdk::measured()
        .into_iter()
        .next()
        .ok_or_else(|| Error::failed("no JDK is here: install one"))?;
    let reports = root().join("target/terrace/advice-reports");
    create(&reports)?;
    let scratch = tempfile::tempdir().map_err(|error| Error::failed(format!("a folder: {error}")))?;
    let mut cells = Vec::new();
    for collector in COLLECTORS.into_iter().filter(|gc| arguments.gc.is_none_or(|only| only == *gc)) {
        for patient in patients(arguments, &jdk, collector, scratch.path())? {
            let name = format!("{} {} {}", patient.name, collector.name(), patient.heap);
            let kept = reports.join(format!("{}.json", name.replace(' ', "-")));
            if !(arguments.resume && is_of_this_build(&kept, &folder().join("terrace"))) {
                eprintln!("{name}");
                match examine(&patient, arguments.seconds) {
                    Ok(report) => write(&kept, report)?,
                    Err(error) => {
                        child::go_on()?;
                        eprintln!("{name}: {error}");
                        continue;
                    }
                }
            }
            let report: Value = serde_json::from_str(&text(&kept)?)
                .map_err(|error| Error::failed(format!("{}: {error}; remove it", kept.display())))?;
            cells.extend(rows(&report, patient.name, collector, patient.heap, jdk.feature));
        }
    }
    publish("advice", &cells)?;
    for line in summary(&cells) {
        println!("{line}");
    }
    Ok(())
}

/// Whether the report is newer than the doctor: one of another build's rules is no answer of this one's.
fn is_of_this_build(report: &Path, doctor: &Path) -> bool {
    let modified = |path: &Path| path.metadata().and_then(|file| file.modified()).ok();
    modified(report).zip(modified(doctor)).is_some_and(|(report, doctor)| report > doctor)
}

fn patients(arguments: &Arguments, jdk: &Jdk, collector: Collector, scratch: &Path) -> Result<Vec<Patient>> {
    let wanted =
        |name: &str| arguments.program.is_empty() || arguments.program.iter().any(|only| only == name);
    let java = jdk.java().into_os_string();
    let workload = |workload: Workload| {
        let heap = format!("--jvm-arg={HEAP}");
        let words = ["--workload", workload.name(), "--gc", collector.name(), &heap, "--java"];
        let arguments = words.map(OsString::from).into_iter().chain([java.clone()]).collect();
        Patient { name: workload.name(), heap: HEAP, warmup: workload.usual_warmup(), arguments }
    };
    let mut found: Vec<Patient> =
        WORKLOADS.into_iter().filter(|workload| wanted(workload.name())).map(workload).collect();
    let flags = jdk.select(collector)?;
    for application in APPLICATIONS.iter().filter(|application| wanted(application.name)) {
        for (heap, flag) in application.heaps {
            if arguments.heap.as_ref().is_none_or(|only| only == heap) {
                match patient(application, jdk, &flags, (heap, flag), scratch) {
                    Ok(patient) => found.push(patient),
                    Err(error) => eprintln!("skipped: {}: {error}", application.name),
                }
            }
        }
    }
    Ok(found)
}

fn patient(
    application: &'static Application,
    jdk: &Jdk,
    flags: &[String],
    (heap, flag): (&'static str, &'static str),
    scratch: &Path,
) -> Result<Patient> {
    // Not in the program's own command line, where no remedy could change them.
    let flags = flags.iter().map(String::as_str).chain([flag]).map(|flag| format!("--jvm-arg={flag}").into());
    let mut arguments: Vec<OsString> = flags.chain(["--".into(), jdk.java().into_os_string()]).collect();
    arguments.extend(application.arguments(jdk, &installed(), scratch)?);
    // It runs for as long as it is watched and tried, and is ended then.
    arguments.extend(["--seconds", "3600"].map(OsString::from));
    Ok(Patient { name: application.name, heap, warmup: application.warmup, arguments })
}

/// The doctor's report, as JSON.
fn examine(patient: &Patient, seconds: u64) -> Result<String> {
    let mut command = Command::new(folder().join("terrace"));
    // All of these can run twice.
    command.args(["doctor", "--verify", "--forks", "concurrent", "--format", "json"]);
    for (option, value) in [("--seconds", WATCHED), ("--warmup", patient.warmup), ("--duration", seconds)] {
        command.arg(option).arg(value.to_string());
    }
    let output = child::output(command.args(&patient.arguments).stdout(Stdio::piped()))?;
    match output.status.code() {
        Some(0) => {}
        // A trial failed, and its row has the reason.
        Some(1) if !output.stdout.is_empty() => {}
        _ => return Err(Error::failed(format!("terrace doctor: {}; see its output above", output.status))),
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A row for each remedy that was tried, each once; one row where there was none.
fn rows(report: &Value, program: &str, collector: Collector, heap: &str, jdk: u32) -> Vec<Value> {
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let advice: Vec<Value> =
        array(&report["findings"]).iter().flat_map(|finding| array(&finding["advice"])).collect();
    let cell = |remedy: &str, metrics: Map<String, Value>| {
        json!({ "parameters": { "program": program, "collector": collector.name(), "heap": heap, "jdk": jdk, "remedy": remedy },
            "processes": 1, "metrics": metrics })
    };
    let exact =
        |value: &Value| value.as_f64().map(|value| json!({ "median": value, "low": value, "high": value }));
    let row = |trial: &Value| {
        let remedy = trial["remedy"].as_str().unwrap_or_default();
        let is_tried = |advice: &&Value| {
            Remedy::deserialize(&advice["remedy"]).is_ok_and(|advised| advised.text() == remedy)
        };
        let effect = advice.iter().find(is_tried);
        let effect = effect.map_or(&Value::Null, |advice| &advice["effect"]);
        let speed = Some(trial["speed"].clone()).filter(|speed| !speed.is_null());
        // What could not be measured keeps its reason.
        let why = trial["note"].as_str().filter(|note| speed.is_none() && !note.is_empty());
        let lacking = || why.map(|why| json!({ "unavailable": why }));
        let metrics = [
            ("expected_collections", exact(&effect["collections"])),
            ("collections", exact(&trial["collections"]).or_else(lacking)),
            // Of a remedy that leaves eden as it is both are the same.
            (
                "collections_of_watched",
                exact(&trial["collections_of_watched"]).or_else(|| exact(&trial["collections"])),
            ),
            ("expected_speed", exact(&effect[if trial["shared"] == true { "speed_cpu" } else { "speed" }])),
            ("speed", speed.or_else(lacking)),
        ];
        let metrics =
            metrics.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
        cell(remedy, metrics)
    };
    let trials = array(&report["trials"]);
    match trials.is_empty() {
        true => vec![cell(
            "nothing to try",
            Map::from_iter([("remedies".into(), json!({ "median": 0, "low": 0, "high": 0 }))]),
        )],
        false => trials.iter().map(row).collect(),
    }
}

/// How many expectations were met, and which remedies did harm.
fn summary(cells: &[Value]) -> Vec<String> {
    let metric = |cell: &Value, name: &str, end: &str| cell["metrics"][name][end].as_f64();
    let mut lines = Vec::new();
    for (name, metrics, expected, within) in WITHIN {
        let found = |cell: &Value| metrics.iter().find_map(|found| metric(cell, found, "median"));
        let factor = |cell| Some(found(cell)? / metric(cell, expected, "median")?);
        let factors: Vec<f64> = cells.iter().filter_map(factor).collect();
        let met = factors.iter().filter(|factor| (1.0 / within..=within).contains(*factor)).count();
        lines.push(format!(
            "{name}: {met} of {} expectations within {:.0} % of what was measured",
            factors.len(),
            (within - 1.0) * 100.0
        ));
    }
    let harmful = cells.iter().filter(|cell| metric(cell, "speed", "high").is_some_and(|high| high < LOSS));
    let name = |cell: &Value| {
        let of = &cell["parameters"];
        format!(
            "{} ({}, {}): {}",
            text_of(&of["program"]),
            text_of(&of["collector"]),
            text_of(&of["heap"]),
            text_of(&of["remedy"])
        )
    };
    let harmful: Vec<String> = harmful.map(name).collect();
    let list = if harmful.is_empty() { "none".into() } else { harmful.join("; ") };
    lines.push(format!("remedies whose interval lies below {LOSS}: {list}"));
    lines
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_an_older_build_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str, second: u64| {
            let path = folder.path().join(name);
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(second);
            std::fs::File::create(&path).and_then(|file| file.set_modified(time)).unwrap();
            path
        };
        let (older, doctor, newer) = (at("older", 1), at("doctor", 2), at("newer", 3));
        assert!(is_of_this_build(&newer, &doctor) && !is_of_this_build(&older, &doctor));
        assert!(!is_of_this_build(&folder.path().join("none"), &doctor));
    }

    #[test]
    fn a_trial_stands_beside_what_was_expected_of_it() {
        let advice = |kind: &str, what: Value, collections: f64| {
            json!({ "remedy": { "kind": kind, "what": what },
            "effect": { "collections": collections, "speed": 1.0 } })
        };
        let trial = |remedy: &str, collections: f64, of_watched: Option<f64>, high: f64| {
            json!({ "remedy": remedy, "collections": collections, "collections_of_watched": of_watched,
            "speed": { "median": 0.98, "low": 0.9, "high": high } })
        };
        let report = json!({
            "findings": [{ "advice": [advice("flags", json!(["-XX:TLABSize=4k"]), 0.10), advice("program", json!("use a pool"), 0.0)] },
                { "advice": [advice("flags", json!(["-Xmn1g"]), 0.20)] }],
            "trials": [trial("-XX:TLABSize=4k", 0.109, None, 0.985), trial("-Xmn1g", 0.3, Some(0.2), 1.1)],
        });
        let cells = rows(&report, "churn", Collector::G1, HEAP, 25);
        assert_eq!(cells.len(), 2);
        assert_eq!(cells[1]["metrics"]["expected_collections"]["median"], 0.2);
        assert_eq!(cells[1]["metrics"]["collections_of_watched"]["median"], 0.2);
        assert_eq!(
            summary(&cells),
            [
                "collections: 1 of 2 expectations within 10 % of what was measured",
                "collections relative to the watched JVM: 2 of 2 expectations within 10 % of what was measured",
                "speed: 2 of 2 expectations within 3 % of what was measured",
                "remedies whose interval lies below 0.99: churn (g1, -Xmx512m): -XX:TLABSize=4k"
            ]
        );
        let why = "failed: it did not start";
        let failed = json!({ "remedy": "terrace", "collections": null, "speed": null, "note": why });
        let failed = rows(&json!({ "findings": [], "trials": [failed] }), "churn", Collector::G1, HEAP, 25);
        for metric in ["collections", "speed"] {
            assert_eq!(failed[0]["metrics"][metric], json!({ "unavailable": why }));
        }
        let healthy = rows(&json!({ "findings": [], "trials": [] }), "alloc", Collector::G1, HEAP, 25);
        assert_eq!(healthy[0]["parameters"]["remedy"], "nothing to try");
    }
}
