//! Real programs in real JVMs with Terrace, for a few seconds each, as `cargo xtask applications --fetch` has put them beside the command.

#[path = "common/real.rs"]
mod installed;

use installed::{installed, java, output, stderr, stdout};
use jvm::application::Application;
use jvm::install::Install;
use jvm::jdk::Jdk;
use std::path::{Path, PathBuf};

const TWO_SECONDS: [&str; 2] = ["--seconds", "2"];

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

/// The program's own result, with the agent in its JVM.
fn run(name: &str, more: &[&str]) -> Option<serde_json::Value> {
    let install = Install::at(vec![fetched()?]);
    let place = tempfile::tempdir().unwrap();
    let report = place.path().join("report.json");
    let (report_path, java) = (report.to_str().unwrap(), java());
    let jdk = Jdk::at(Path::new(&java)).unwrap();
    let program = match Application::named(name).unwrap().arguments(&jdk, &install, place.path()) {
        Ok(words) => words.into_iter().map(|word| word.into_string().unwrap()).collect::<Vec<_>>(),
        Err(error) => {
            skips::skip!("{error}");
            return None;
        }
    };
    let words = ["run", "--report", report_path, "--", &java, "-Xmx512m"].into_iter();
    let words: Vec<&str> = words.chain(program.iter().map(String::as_str)).collect();
    let ran = output(&[&words[..], &["--warmup", "1"], more].concat());
    assert!(ran.status.success(), "{name}: {}", stderr(&ran));
    let text = stdout(&ran);
    let result: serde_json::Value = serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap();
    assert_eq!(result["checks"], "passed", "{result}");
    let ms = |field: &str| result[field].as_f64().unwrap();
    assert!(0.0 < ms("p50_ms") && ms("p50_ms") <= ms("p99_ms") && ms("p99_ms") <= ms("p999_ms"), "{result}");
    assert!(result["peak_resident_bytes"].as_u64().unwrap() > 1 << 20, "{result}");
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    assert!(report["total"]["refills"].as_u64().unwrap() > 0, "{name} was served: {report}");
    Some(result)
}

#[test]
fn h2() {
    let Some(result) = run("h2", &TWO_SECONDS) else { return };
    assert_eq!(result["parameters"]["threads"], 64);
}

#[test]
fn callbacks() {
    let Some(result) = run("callbacks", &TWO_SECONDS) else { return };
    assert!(result["operations"].as_u64().unwrap() > 100, "{result}");
}

#[test]
fn callbacks_jni() {
    let Some(result) = run("callbacks-jni", &TWO_SECONDS) else { return };
    assert!(result["operations"].as_u64().unwrap() > 100, "{result}");
}

#[test]
fn keycloak() {
    run("keycloak", &["--operations", "20", "--threads", "4"]);
}

#[test]
fn spark() {
    let Some(result) = run("spark", &["--operations", "4"]) else { return };
    assert_eq!(result["parameters"]["spark"], "4.0.1", "{result}");
}

#[test]
fn http_connection() {
    run("http-connection", &TWO_SECONDS);
}

#[test]
fn http_request() {
    run("http-request", &["--seconds", "2", "--threads", "4"]);
}

#[test]
fn lucene() {
    let Some(result) = run("lucene", &TWO_SECONDS) else { return };
    assert!(result["indexed_documents"].as_u64().unwrap() > 0, "{result}");
}

#[test]
fn javac() {
    run("javac", &TWO_SECONDS);
}

#[test]
fn ecj() {
    run("ecj", &TWO_SECONDS);
}

/// The results of one round of the callbacks.
#[cfg(feature = "lab")]
fn measured(seconds: u64) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    let (out, seconds) = (folder.path().to_str().unwrap(), format!("--seconds={seconds}"));
    let what = ["--only", "program=callbacks", "--rounds=1", &seconds, "--out", out];
    let ran = output(&[&["lab", "run", "applications"], &what[..]].concat());
    assert!(ran.status.success(), "{}", stderr(&ran));
    assert!(stdout(&ran).contains("Terrace / stock"), "{}", stdout(&ran));
    serde_json::from_str(&std::fs::read_to_string(folder.path().join("results.json")).unwrap()).unwrap()
}

/// One round of one program, from the command to the table: a JVM that is switched, and three whose forks serve all other comparisons.
#[cfg(feature = "lab")]
#[test]
fn the_experiment_sets_each_side_beside_stock() {
    let Some(_) = fetched() else { return };
    // A busy machine takes longer to have enough operations in each window.
    let has_times = |results: &serde_json::Value| {
        let cells = results["experiments"][0]["cells"].as_array().unwrap();
        let switched = cells.iter().find(|cell| cell["parameters"]["compared"] == "on / off, one process");
        switched.is_some_and(|cell| cell["metrics"]["p50"]["median"].is_number())
    };
    let results = [4, 16, 64].into_iter().map(measured).find(has_times).expect("times of both sides");
    let cells = results["experiments"][0]["cells"].as_array().unwrap();
    let of = |compared: &str| {
        let cell = cells.iter().find(|cell| cell["parameters"]["compared"] == compared);
        cell.unwrap_or_else(|| panic!("{compared}: {results}"))
    };
    let median = |cell: &serde_json::Value, metric: &str| cell["metrics"][metric]["median"].as_f64().unwrap();
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
