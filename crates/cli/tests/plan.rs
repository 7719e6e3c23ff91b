//! `terrace plan` by its users' words.
#![cfg(feature = "simulator")]

mod common;

use common::{Home, assert_refused, errors, shown};
use serde_json::Value;
use std::process::Output;

const SHORT: [&str; 8] =
    ["--machine", "thompson-nehalem", "--threads", "8", "--heap", "1g", "--length", "20us"];

fn plan(arguments: &[&str]) -> Output {
    let all: Vec<&str> = ["plan"].iter().chain(arguments).copied().collect();
    Home::new("exit 0").terrace(&all).output().unwrap()
}

fn good(arguments: &[&str]) -> String {
    let output = plan(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    shown(&output)
}

#[test]
fn a_plan_compares_levels_and_says_what_to_start() {
    let table = good(&SHORT);
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "2: none",
        "3: core",
        "recommended ",
        "start java with ",
        "simulated, not measured",
        "bound by ",
        "confidence ",
        "numbers are assumed",
    ] {
        assert!(words.contains(part.trim_end()), "{part} in:\n{table}");
    }
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
}

#[test]
fn an_eden_is_enough() {
    let arguments = |size: [&'static str; 2]| {
        [&["--machine", "thompson-nehalem", "--threads", "8"], &size[..], &["--length", "20us"]].concat()
    };
    assert_eq!(good(&arguments(["--eden", "256m"])), good(&arguments(["--heap", "1g"])));
}

#[test]
fn json_has_everything_and_the_same_each_time() {
    let arguments = [&SHORT[..], &["--format", "json", "--object", "48", "--work", "20"]].concat();
    let first = good(&arguments);
    assert_eq!(first, good(&arguments));
    let json: Value = serde_json::from_str(&first).unwrap();
    assert_eq!((&json["simulated"], &json["machine"]), (&true.into(), &"thompson-nehalem".into()));
    assert_eq!(json["eden_bytes"], 256 << 20, "a quarter of the heap");
    let all = json["all"].as_array().unwrap();
    let of = |row: &Value, key: &str| row[key].as_f64().unwrap();
    let chosen = &json["recommended"];
    assert!(all.contains(chosen), "{chosen}");
    // How it is chosen is the plan's own test; here nobody may find a row that is better in both than the best.
    let best = &json["best"];
    let better = |row: &&Value| {
        of(row, "objects_per_second") > of(best, "objects_per_second") * 1.02
            && of(row, "held_bytes") < of(best, "held_bytes")
    };
    assert_eq!(all.iter().find(better), None);
    // A heap that is large for so short a time: thread buffers that grow ask it for nothing, and no buffer can do better.
    assert_eq!((&chosen["chain"], &chosen["tlab"]), (&"heap".into(), &"growing".into()), "{chosen}");
    let options = json["options"].as_str().unwrap();
    match chosen["chain"].as_str().unwrap() {
        "heap" => assert!(options.starts_with("-XX:TLABSize=") || chosen["tlab"] == "growing", "{options}"),
        _ => assert!(options.contains("libterrace.so=levels=") && options.contains("tlab="), "{options}"),
    }
    assert!(
        json["assumed"].as_array().unwrap().iter().any(|key| key == "costs.store" || key == "costs.locked")
    );
    assert_eq!(
        (&json["chains"][0]["chain"], &json["chains"][0]["tlab"]),
        (&"heap".into(), &"growing".into())
    );
}

/// A program that allocates a hundredth is bound by its work, at the rate that was asked for.
#[test]
fn a_rate_of_allocation_is_the_programs() {
    let arguments = [&SHORT[..], &["--rate", "100m", "--format", "json"]].concat();
    let json: Value = serde_json::from_str(&good(&arguments)).unwrap();
    let objects = json["recommended"]["between_collections"].as_f64().unwrap();
    assert!((objects * 64.0 / 100e6 * (1e6 / f64::from(1 << 20)) - 1.0).abs() < 0.05, "{objects}");
    assert_eq!(json["recommended"]["limit"]["bound"], "work");
}

/// Nothing may be called the fastest where nothing else was simulated.
#[test]
fn a_plan_without_another_candidate_says_so() {
    let arguments = ["--machine", "thompson-nehalem", "--threads", "8000", "--heap", "1g", "--eden", "40m"];
    let words = good(&[&arguments[..], &["--length", "20us"]].concat());
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("confidence nothing was compared: no fixed TLAB size fits") && words.contains("--map"),
        "{words}"
    );
}

#[test]
fn the_map_is_by_threads_and_eden() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.html");
    let file = path.to_str().unwrap();
    let map = good(&["--machine", "opsian-haswell", "--map", "--out", file]);
    for part in ["| threads", "eden 64m", "eden 64g", "| 5000", "growing", "not measured"] {
        assert!(map.contains(part), "{part} in:\n{map}");
    }
    assert!(map.lines().all(|line| line.chars().count() <= 100), "{map}");
    assert!(std::fs::read_to_string(path).unwrap().contains("Where buffers pay off on opsian-haswell"));
    let json: Value =
        serde_json::from_str(&good(&["--machine", "opsian-haswell", "--map", "--format", "json"])).unwrap();
    assert_eq!(json["places"].as_array().unwrap().len(), 6 * 6);
}

#[test]
fn the_documentation_has_the_map_and_what_was_measured() {
    let page = include_str!("../../../docs/where-it-pays.md");
    let map = good(&["--machine", "epyc-9654-2x96", "--map"]);
    assert!(page.contains(&map), "docs/where-it-pays.md has to have this map:\n{map}");
    let results = include_str!("../../../docs/results/defaults.md");
    let measured = page.lines().filter(|line| line.ends_with("| growing: no difference |"));
    let mut rows = 0;
    for line in measured {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let row = format!(
            "| alloc parallel 25, {} threads | {} | one process | {} |",
            cells[1], cells[2], cells[3]
        );
        assert!(results.contains(&row), "docs/results/defaults.md has not {row}");
        rows += 1;
    }
    assert_eq!(rows, 6);
}

/// README tells what this very command recommends, and why.
#[test]
fn the_readme_has_what_is_recommended() {
    let command = "terrace plan --machine epyc-9654-2x96 --threads 192 --heap 32g";
    let told = format!("`{command}` recommends HotSpot's own TLABs, because memory is the bottleneck there.");
    assert!(include_str!("../../../README.md").contains(&told), "{told}");
    let arguments: Vec<&str> = command.split(' ').skip(2).collect();
    let words = good(&arguments).split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "recommended 2 levels, TLABs as HotSpot sizes them",
        "bound by memory (",
        "confidence no difference that this model can resolve",
    ] {
        assert!(words.contains(part), "{part} in: {words}");
    }
}

#[test]
fn wrong_words() {
    let refused = |arguments: &[&str], parts: &[&str]| assert_refused(&plan(arguments), 2, parts);
    let with = |more: &[&'static str]| [&SHORT[..], more].concat();
    refused(&["--machine", "epyc", "--threads", "8", "--heap", "1g"], &["epyc: neither", "epyc-9654-2x96"]);
    refused(&["--machine", "opsian-haswell", "--threads", "8"], &["--heap"]);
    refused(&with(&["--map"]), &["--map", "--threads"]);
    refused(&["--machine", "opsian-haswell", "--map", "--length", "10ms"], &["--map", "--length"]);
    refused(&with(&["--rate", "9000g"]), &["--rate 9000g", "specify less"]);
    refused(&with(&["--rate", "5g", "--work", "40"]), &["--work", "--rate"]);
    refused(&with(&["--out", "map.html"]), &["--map"]);
    refused(&with(&["--eden", "2g"]), &["--eden is larger than --heap 1g"]);
    refused(
        &with(&["--eden", "64m", "--survivors", "65m"]),
        &["--survivors 65m: more than the eden of 64m", "specify at most that"],
    );
    refused(&with(&["--profile", "jvac"]), &["unknown profile 'jvac'"]);
    refused(&with(&["--object", "0"]), &["'0' is not a valid object size"]);
    refused(&["--machine", "opsian-haswell", "--threads", "8", "--heap", "64k"], &["eden", "too small"]);
}

#[test]
fn help_teaches_by_examples() {
    let help = good(&["--help"]);
    assert!(help.contains("Examples:\n  terrace plan ") && help.contains("terrace compare"), "{help}");
}
