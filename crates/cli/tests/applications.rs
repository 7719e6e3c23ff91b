//! Each real program's part of the experiment `applications`, for a few seconds, with the programs that `cargo xtask applications --fetch` has put
//! beside the command.
#![cfg(feature = "lab")]

#[path = "common/real.rs"]
mod installed;

use installed::{installed, output, stderr, stdout};
use jvm::install::Install;
use serde_json::Value;
use std::path::PathBuf;

/// The folder of the command, where the programs are.
fn fetched() -> Option<PathBuf> {
    let folder = installed()?;
    match Install::at(vec![folder.clone()]).applications() {
        Ok(_) => Some(folder),
        Err(error) => {
            skips::skip!("{error}");
            None
        }
    }
}

/// What the experiment says where a machine did not get far enough in the time.
const TOO_SHORT: [&str; 2] = ["pairs of windows", "allocated nothing that could be compared"];

/// The results of one round of a program in a small heap, its windows together so many seconds; what it said, if they were too short.
fn measured(program: &str, compared: &[&str], seconds: u64) -> Result<Value, String> {
    let folder = tempfile::tempdir().unwrap();
    let (out, seconds) = (folder.path().to_str().unwrap(), format!("--seconds={seconds}"));
    let program = format!("program={program}");
    let what = ["lab", "run", "applications", "--only", &program, "--only", "heap=small", "--rounds=1"];
    let ran = output(&[&what[..], compared, &[&seconds, "--out", out]].concat());
    let read = std::fs::read_to_string(folder.path().join("results.json"));
    let results: Value = read.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
    match ran.status.success() {
        true => {
            assert!(!compared.is_empty() || stdout(&ran).contains("Terrace / stock"), "{}", stdout(&ran));
            Ok(results)
        }
        false if TOO_SHORT.iter().any(|reason| results.to_string().contains(reason)) => Err(stderr(&ran)),
        false => panic!("{program}: {}{results:#}", stderr(&ran)),
    }
}

/// What the program itself and the agent said in one JVM whose buffers were switched on and off, for a few seconds at first: a busy machine takes
/// longer to have enough windows. `None` where the program cannot run here.
fn run(program: &'static str, seconds: u64) -> Option<Value> {
    fetched()?;
    let one_process = ["--only", "compared=on / off, one process", "--warmup=1"];
    let results = [1, 4, 16].into_iter().map(|times| measured(program, &one_process, times * seconds));
    let mut failures = Vec::new();
    let found = results.into_iter().find_map(|result| result.map_err(|error| failures.push(error)).ok());
    let results = found.unwrap_or_else(|| panic!("{program}: {failures:?}"));
    let [cell] = results["experiments"][0]["cells"].as_array().unwrap().as_slice() else {
        panic!("one cell: {results:#}");
    };
    assert_eq!(cell["parameters"]["program"], program);
    if let Some(reason) = cell["unavailable"].as_str() {
        skips::skip!("{program}: {reason}");
        return None;
    }
    let speed = ["low", "median", "high"].map(|key| cell["metrics"]["speed"][key].as_f64().unwrap());
    assert!(0.0 < speed[0] && speed.is_sorted(), "{cell:#}");
    // The buffers served it, and HotSpot did while they were off.
    assert!(cell["metrics"]["heap"]["median"].as_f64() > Some(0.0), "{cell:#}");
    let settings = &cell["settings"];
    assert_eq!((&settings["levels"], &settings["collector"]), (&"core".into(), &"G1".into()), "{cell:#}");
    let own = settings["measured"].clone();
    assert_eq!(own["checks"], "passed", "{own:#}");
    let ms = |field: &str| own[field].as_f64().unwrap();
    assert!(0.0 < ms("p50_ms") && ms("p50_ms") <= ms("p99_ms") && ms("p99_ms") <= ms("p999_ms"), "{own:#}");
    assert!(own["peak_resident_bytes"].as_u64().unwrap() > 1 << 20, "{own:#}");
    Some(own)
}

#[test]
fn h2() {
    let Some(own) = run("h2", 3) else { return };
    assert_eq!(own["parameters"]["threads"], 64, "{own:#}");
}

#[test]
fn callbacks_jni() {
    let Some(own) = run("callbacks-jni", 3) else { return };
    assert!(own["operations"].as_u64() > Some(100), "{own:#}");
}

#[test]
fn callbacks() {
    let Some(own) = run("callbacks", 3) else { return };
    assert!(own["operations"].as_u64() > Some(100), "{own:#}");
}

#[test]
fn keycloak() {
    run("keycloak", 7);
}

#[test]
fn spark() {
    let Some(own) = run("spark", 11) else { return };
    assert_eq!(own["parameters"]["spark"], "4.0.1", "{own:#}");
}

#[test]
fn http_connection() {
    run("http-connection", 3);
}

#[test]
fn http_request() {
    run("http-request", 3);
}

#[test]
fn lucene() {
    let Some(own) = run("lucene", 3) else { return };
    assert!(own["indexed_documents"].as_u64() > Some(0), "{own:#}");
}

#[test]
fn javac() {
    run("javac", 7);
}

#[test]
fn ecj() {
    run("ecj", 7);
}

/// One round of one program, from the command to the table: a JVM that is switched, and three whose forks serve all other comparisons.
#[test]
fn the_experiment_sets_each_side_beside_stock() {
    let Some(_) = fetched() else { return };
    // A busy machine takes longer to have enough operations in each window.
    let has_times = |results: &Value| {
        let cells = results["experiments"][0]["cells"].as_array().unwrap();
        let switched = cells.iter().find(|cell| cell["parameters"]["compared"] == "on / off, one process");
        switched.is_some_and(|cell| cell["metrics"]["p50"]["median"].is_number())
    };
    let rounds = [4, 16, 64].into_iter().filter_map(|seconds| measured("callbacks", &[], seconds).ok());
    let results = rounds.into_iter().find(has_times).expect("times of both sides");
    let cells = results["experiments"][0]["cells"].as_array().unwrap();
    let of = |compared: &str| {
        let cell = cells.iter().find(|cell| cell["parameters"]["compared"] == compared);
        cell.unwrap_or_else(|| panic!("{compared}: {results}"))
    };
    let median = |cell: &Value, metric: &str| cell["metrics"][metric]["median"].as_f64().unwrap();
    let [flag, terrace, both, switched] =
        ["TLABSize=4k / stock", "Terrace / stock", "Terrace / TLABSize=4k", "on / off, one process"].map(of);
    assert_eq!(cells.len(), 4, "{results}");
    // The same three forks: the ratios of two of the comparisons make the third.
    let third = median(terrace, "speed") / median(flag, "speed");
    assert!((median(both, "speed") - third).abs() < 1e-9, "{results}");
    assert!(median(terrace, "resident") > 0.5 && median(terrace, "p99") > 0.0, "{results}");
    // Everyone's threads come and go: the agent was there, and not on the other side.
    assert!(median(terrace, "collections_a") < median(terrace, "collections_b"), "{results}");
    assert!(terrace["settings"]["Terrace"]["agent"]["levels"].is_string(), "{results}");
    assert!(terrace["settings"]["stock"]["agent"].is_null(), "{results}");
    // They ran at the same time: each window begins before the other ends.
    let window = |side: &str| {
        let measured = &terrace["settings"][side]["measured"];
        assert_eq!(measured["parameters"]["window"], "external", "{measured}");
        let [end, seconds] = ["ended_nanos", "seconds"].map(|field| measured[field].as_f64().unwrap());
        (end - 1e9 * seconds, end)
    };
    let (of_terrace, of_stock) = (window("Terrace"), window("stock"));
    assert!(of_terrace.0 < of_stock.1 && of_stock.0 < of_terrace.1, "{results}");
    // The switched one has an interval of its own, and times of both sides.
    assert!(
        switched["metrics"]["speed"]["low"].as_f64() < switched["metrics"]["speed"]["high"].as_f64(),
        "{results}"
    );
    assert!(median(switched, "p50") > 0.0 && median(switched, "heap") > 0.0, "{results}");
    assert!(switched["settings"]["levels"].is_string(), "{results}");
}
