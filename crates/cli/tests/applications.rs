//! Real programs in real JVMs with Terrace, for a few seconds each, as `cargo xtask applications --fetch` has put them beside the command.

#[path = "common/real.rs"]
mod installed;

use installed::{installed, java, output, stderr, stdout};
use jvm::install::Install;
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

/// The program's own result, with the agent in its JVM.
fn run(name: &str, more: &[&str]) -> Option<serde_json::Value> {
    let install = Install::at(vec![fetched()?]);
    let reports = tempfile::tempdir().unwrap();
    let report = reports.path().join("report.json");
    let jar = install.applications().unwrap();
    let jna = format!("-Djna.tmpdir={}", reports.path().display());
    let (report_path, java) = (report.to_str().unwrap(), java());
    let program =
        ["run", "--report", report_path, "--", &java, "-Xmx256m", &jna, "-jar", jar.to_str().unwrap(), name];
    let ran = output(&[&program[..], &["--seconds", "2", "--warmup", "1"], more].concat());
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

fn sources() -> Option<String> {
    Some(Install::at(vec![fetched()?]).sources().unwrap().to_str().unwrap().to_owned())
}

#[test]
fn h2() {
    let Some(result) = run("h2", &[]) else { return };
    assert_eq!(result["parameters"]["threads"], 64);
}

#[test]
fn callbacks() {
    let Some(result) = run("callbacks", &[]) else { return };
    assert!(result["operations"].as_u64().unwrap() > 100, "{result}");
}

#[test]
fn http_connection() {
    run("http-connection", &[]);
}

#[test]
fn http_request() {
    run("http-request", &["--threads", "4"]);
}

#[test]
fn lucene() {
    let Some(result) = run("lucene", &[]) else { return };
    assert!(result["indexed_documents"].as_u64().unwrap() > 0, "{result}");
}

#[test]
fn javac() {
    let Some(sources) = sources() else { return };
    run("javac", &["--sources", &sources]);
}

#[test]
fn ecj() {
    let Some(sources) = sources() else { return };
    run("ecj", &["--sources", &sources]);
}

/// One round of one program, from the command to the table: three JVMs, whose forks serve all comparisons.
#[cfg(feature = "lab")]
#[test]
fn the_experiment_sets_each_side_beside_stock() {
    let Some(_) = fetched() else { return };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let words = [
        "lab",
        "run",
        "applications",
        "--only",
        "program=callbacks",
        "--rounds=1",
        "--seconds=1",
        "--out",
        out,
    ];
    let ran = output(&words);
    assert!(ran.status.success(), "{}", stderr(&ran));
    assert!(stdout(&ran).contains("Terrace / stock"), "{}", stdout(&ran));
    let results = std::fs::read_to_string(folder.path().join("results.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&results).unwrap();
    let cells = results["experiments"][0]["cells"].as_array().unwrap();
    let of = |number: usize, metric: &str| cells[number]["metrics"][metric]["median"].as_f64().unwrap();
    assert_eq!(cells.len(), 3, "{results}");
    // The same three forks: the ratios of two of the comparisons make the third.
    assert!((of(2, "speed") - of(1, "speed") / of(0, "speed")).abs() < 1e-9, "{results}");
    assert!(of(1, "resident") > 0.5 && of(1, "p99") > 0.0, "{results}");
    // Everyone's threads come and go: the agent was there, and not on the other side.
    assert!(of(1, "collections_a") < of(1, "collections_b"), "{results}");
    assert!(cells[1]["settings"]["Terrace"]["agent"]["levels"].is_string(), "{results}");
    assert!(cells[1]["settings"]["stock"]["agent"].is_null(), "{results}");
}
