//! `terrace sim` by its users' words: short simulations of small machines.
#![cfg(feature = "simulator")]

mod common;

use common::{Home, assert_refused, errors, shown, text};
use serde_json::Value;
use std::process::Output;

const ALLOCATE: [&str; 6] = ["--machine", "opsian-haswell", "--program", "allocate", "--length", "50us"];

fn sim(command: &str, arguments: &[&str]) -> Output {
    let all: Vec<&str> = ["sim", command].iter().chain(arguments).copied().collect();
    Home::new("exit 0").terrace(&all).output().unwrap()
}

fn good(command: &str, arguments: &[&str]) -> String {
    let output = sim(command, arguments);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    shown(&output)
}

fn json(command: &str, arguments: &[&str]) -> Value {
    serde_json::from_str(&good(command, &[arguments, &["--format", "json"]].concat())).unwrap()
}

fn refused(command: &str, arguments: &[&str], parts: &[&str]) {
    assert_refused(&sim(command, arguments), 2, parts);
}

fn assert_fits(table: &str) {
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
}

#[test]
fn the_list_has_machines_and_programs() {
    let list = good("list", &[]);
    for name in ["paper-4x10x2", "epyc-9654-2x96", "MESIF", "MOESI", "xadd", "allocate"] {
        assert!(list.contains(name), "{name} in:\n{list}");
    }
    assert_fits(&list);
    let json = json("list", &[]);
    assert_eq!(json["machines"][0]["cpus"], 80);
    assert!(json["programs"].as_array().unwrap().iter().any(|program| program["name"] == "cas"));
}

#[test]
fn a_machine_tells_each_number_with_its_origin() {
    let table = good("machine", &["paper-4x10x2"]);
    assert_fits(&table);
    for part in ["costs.transfer_remote", "assumed: ", "source: ", "numbers are assumed"] {
        assert!(table.contains(part), "{part} in:\n{table}");
    }
    let json = json("machine", &["paper-4x10x2"]);
    for figure in json["figures"].as_array().unwrap() {
        assert!(figure["value"].is_number() && !figure["text"].as_str().unwrap().is_empty(), "{figure}");
        let origin = figure["origin"].as_str().unwrap();
        assert!(["source", "assumed", "measured", "calibrated"].contains(&origin), "{figure}");
    }
    refused("machine", &["no-such"], &["no-such: neither a shipped machine nor a file", "two-vcpu-epyc"]);
}

#[test]
fn a_contended_counter_is_slower_than_one_alone() {
    let arguments =
        ["--machine", "thompson-nehalem", "--program", "cas", "--threads", "1,4", "--length", "50us"];
    let json = json("run", &arguments);
    let of = |row: usize, key: &str| json["rows"][row][key].as_f64().unwrap();
    assert!(of(0, "per_second") > 4.0 * of(1, "per_second"), "{json}");
    assert!(of(0, "retries_per_success") == 0.0 && of(1, "retries_per_success") > 0.1, "{json}");
    assert!(of(1, "transfers_per_operation") > 0.5 && of(1, "line_share") > 0.5, "{json}");
    assert_eq!((&json["simulated"], &json["machine"]), (&true.into(), &"thompson-nehalem".into()));
    assert_eq!(json["rows"][1]["lines"][0]["name"], "counter");
    let table = good("run", &arguments);
    assert!(table.contains("operations/s") && table.contains("not measured"), "{table}");
    assert_fits(&table);
}

#[test]
fn buffers_of_cores_keep_requests_from_the_heap() {
    let run = |levels: &str| {
        json("run", &[&ALLOCATE[..], &["--threads", "4", "--tlab", "1k", "--levels", levels]].concat())
    };
    let requests = |json: &Value| json["rows"][0]["buffers"]["heap_requests"].as_u64().unwrap();
    let (none, core) = (run("none"), run("core+l3"));
    assert!(requests(&none) > 5 * requests(&core), "{} {}", requests(&none), requests(&core));
    let levels = &core["rows"][0]["buffers"]["levels"];
    assert_eq!((&levels[0]["name"], &levels[1]["name"]), (&"core".into(), &"L3".into()));
    assert_eq!(levels[0]["bytes"], 256 << 10, "the agent's choice");
    for key in ["foreign_share", "stolen_share", "direct_share", "remaining_bytes"] {
        assert!(levels[0][key].is_number(), "{key}");
    }
    let table =
        good("run", &[&ALLOCATE[..], &["--threads", "2", "--tlab", "4k", "--levels", "core"]].concat());
    assert!(table.contains("core 256k") && table.contains("passed on"), "{table}");
}

#[test]
fn sizes_are_taken_as_they_are_asked_for() {
    let sizes = ["--levels", "core+package", "--core-size", "64k", "--package-size", "1m", "--eden", "64m"];
    let json = json("run", &[&ALLOCATE[..], &sizes, &["--tlab", "2k"]].concat());
    let buffers = &json["rows"][0]["buffers"];
    assert_eq!(
        (&buffers["levels"][0]["bytes"], &buffers["levels"][1]["bytes"]),
        (&65536.into(), &(1 << 20).into())
    );
    assert_eq!((&buffers["tlab_bytes"], &buffers["eden_bytes"]), (&2048.into(), &(64 << 20).into()));
}

#[test]
fn the_same_seed_gives_the_same_output_byte_for_byte() {
    let arguments =
        [&ALLOCATE[..], &["--threads", "8", "--tlab", "1k", "--levels", "core", "--unpinned"]].concat();
    for command in ["run", "explain"] {
        let with = |seed| good(command, &[&arguments[..], &["--format", "json", "--seed", seed]].concat());
        assert_eq!(with("1"), with("1"));
        assert_ne!(with("1"), with("2"));
    }
}

#[test]
fn a_sweep_tells_speed_ups_over_no_levels() {
    let home = Home::new("exit 0");
    let (csv, html) = (text(&home.path("grid.csv")), text(&home.path("grid.html")));
    let grid = ["--threads", "1,8", "--tlab", "512,4k", "--levels", "core,l3"];
    let arguments = [&ALLOCATE[..], &grid].concat();
    let table = good("sweep", &[&arguments[..], &["--out", &csv, "--out", &html]].concat());
    assert!(table.contains("none") && table.contains(" x ") && table.contains("written: "), "{table}");
    assert_fits(&table);
    let lines = std::fs::read_to_string(csv).unwrap();
    assert_eq!(lines.lines().count(), 1 + 2 * 2 * 3, "{lines}");
    assert!(lines.starts_with("tlab,levels,threads,"), "{lines}");
    let page = std::fs::read_to_string(html).unwrap();
    assert_page(&page);
    assert_eq!(page.matches("<path class=\"curve\"").count(), 2 * 3);

    let json = json("sweep", &arguments);
    let cells = json["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 12);
    for cell in cells {
        let none = cell["levels"] == "none";
        assert_eq!(cell["speed_up"] == 1.0, none, "{cell}");
        assert!(cell["buffers"]["held_bytes"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_run_is_a_table_a_page_and_lines_for_programs() {
    let arguments =
        ["--machine", "thompson-nehalem", "--program", "cas", "--threads", "1,2,4", "--length", "50us"];
    let page = good("run", &[&arguments[..], &["--format", "html"]].concat());
    assert_page(&page);
    assert_eq!((page.matches("mark point").count(), page.matches("<table>").count()), (2 * 3, 1));
    let lines = good("run", &[&arguments[..], &["--format", "csv"]].concat());
    assert!(lines.starts_with("threads,per_second,") && lines.lines().count() == 4, "{lines}");
    refused("explain", &[&arguments[..4], &["--format", "csv"]].concat(), &["table, json"]);
}

/// The most used part of the machine, in every format of every command that has a result.
#[test]
fn every_result_names_what_it_is_bound_by() {
    let home = Home::new("exit 0");
    let file = text(&home.path("moves.html"));
    let one = ["--threads", "4", "--tlab", "512", "--levels", "none"];
    let arguments = [&ALLOCATE[..], &one].concat();
    for format in ["table", "json", "csv", "html"] {
        for command in ["run", "sweep"] {
            let output = good(command, &[&arguments[..], &["--format", format]].concat());
            let part = if format == "json" { "\"bound\": \"memory\"" } else { "memory" };
            assert!(output.contains(part), "{command}, {format}:\n{output}");
        }
    }
    for format in ["table", "json"] {
        let output = good("explain", &[&arguments[..], &["--format", format, "--timeline", &file]].concat());
        let words = output.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("Bound by: memory"), "{format}:\n{output}");
    }
    assert!(std::fs::read_to_string(&file).unwrap().contains("Bound by: memory"));
    let levels = ["levels", "--machine", "opsian-haswell"];
    let table = good("evaluate", &levels);
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("(work)") && words.contains("in brackets: what it is bound by"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    let json = json("evaluate", &levels);
    for row in json["levels"].as_array().unwrap() {
        let limits = row["limits"].as_array().unwrap();
        assert!(limits.len() == 4 && limits.iter().all(|limit| limit["bound"].is_string()), "{row}");
    }
}

#[test]
fn published_values_are_compared_with_ranges() {
    let table = good("evaluate", &["opsian"]);
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["| range | inside |", "predicted: 2 of 4 hold; the range includes 0 of 4 published values"] {
        assert!(words.contains(part), "{part} in:\n{table}");
    }
    assert_fits(&table);
    for finding in json("evaluate", &["opsian"])["findings"].as_array().unwrap() {
        let of = |key: &str| finding["range"][key].as_f64().unwrap();
        let simulated = finding["simulated"].as_f64().unwrap();
        assert!(of("low") <= simulated && simulated <= of("high"), "{finding}");
        let published = finding["published"].as_f64().unwrap();
        let inside = of("low") <= published && published <= of("high");
        assert_eq!(finding["published_in_range"], inside, "{finding}");
        assert_eq!(finding["range"]["seeds"].as_array().unwrap().len(), 2);
    }
    let without = json("evaluate", &["opsian", "--no-ranges"]);
    assert!(without["findings"][0]["range"].is_null() && without["findings"][0]["simulated"].is_number());
    assert!(!good("evaluate", &["opsian", "--no-ranges"]).contains("range"));
}

/// A page that is complete in itself.
fn assert_page(page: &str) {
    assert!(page.starts_with("<!doctype html>") && page.contains("</html>"));
    assert!(page.contains("light-dark(") && page.contains("width=device-width"));
    for loader in ["<link", " src=", "@import", "url(", "fetch(", "import(", "NaN"] {
        assert!(!page.contains(loader), "{loader}");
    }
}

#[test]
fn the_line_that_bounced_is_named() {
    let arguments =
        ["--machine", "thompson-nehalem", "--program", "xadd", "--threads", "4", "--length", "50us"];
    let table = good("explain", &arguments);
    for part in ["'counter' dominates", "core 0", "waiting", "not measured"] {
        assert!(table.contains(part), "{part} in:\n{table}");
    }
    assert_fits(&table);
    let json = json("explain", &arguments);
    let line = &json["lines"][0];
    assert_eq!(line["name"], "counter");
    for key in ["reads", "writes", "upgrades", "modified", "lost", "queued_cycles", "moving_cycles", "share"]
    {
        assert!(line[key].is_number(), "{key} in {line}");
    }
    assert_eq!(line["pairs"][0]["shared"], "L3");
    assert!(line["pairs"][0]["moves"].as_u64().unwrap() > 1);
    let few = [&arguments[..], &["--lines", "0"]].concat();
    assert!(!good("explain", &few).contains("| counter"));
}

#[test]
fn moves_are_drawn_one_by_one() {
    let home = Home::new("exit 0");
    let path = text(&home.path("moves.html"));
    let arguments = [&ALLOCATE[..], &["--threads", "6", "--tlab", "512", "--timeline", &path]].concat();
    let table = good("explain", &arguments);
    assert!(table.contains("written: "), "{table}");
    let page = std::fs::read_to_string(&path).unwrap();
    assert_page(&page);
    assert!(page.contains("heap: top") && page.contains(" ns</text>") && page.contains("waited "));
    let bars = page.matches("class=\"bar ").count();
    assert!((10..=250).contains(&bars), "{bars}");
    let window = [&arguments[..], &["--from", "0.1us", "--window", "1us"]].concat();
    good("explain", &window);
    assert!(std::fs::read_to_string(&path).unwrap().contains("of the simulation on"));
    std::fs::remove_file(&path).unwrap();
    refused("explain", &[&arguments[..], &["--from", "1ms"]].concat(), &["--from", "--length"]);
    assert!(!home.path("moves.html").exists(), "nothing is left behind");
    refused("explain", &[&ALLOCATE[..], &["--from", "1us"]].concat(), &["--timeline"]);
}

#[test]
fn a_file_describes_a_machine_too() {
    let home = Home::new("exit 0");
    let path = home.path("mine.toml");
    let (_, haswell) =
        coherence::machine::shipped().iter().find(|(name, _)| *name == "opsian-haswell").unwrap();
    std::fs::write(&path, haswell).unwrap();
    let json = json("run", &["--machine", &text(&path), "--program", "add", "--length", "10us"]);
    assert_eq!(json["machine"], "mine");
    std::fs::write(&path, "title = 1").unwrap();
    refused("run", &["--machine", &text(&path), "--program", "add"], &["mine.toml", "title"]);
}

#[test]
fn wrong_words() {
    let run = |arguments: &[&str], parts: &[&str]| {
        refused("run", &[&["--machine", "opsian-haswell"], arguments].concat(), parts);
    };
    refused("run", &["--machine", "haswell", "--program", "add"], &["haswell: neither", "opsian-haswell"]);
    refused("run", &["--program", "add"], &["--machine"]);
    run(&["--program", "allocat"], &["unknown program 'allocat'", "add, xadd, cas, allocate"]);
    run(&["--program", "add", "--tlab", "4k"], &["--program add allocates nothing", "--program allocate"]);
    run(&["--program", "add", "--object", "64"], &["--object"]);
    run(&["--program", "allocate", "--levels", "cores"], &["unknown levels 'cores'", "core+l3"]);
    run(&["--program", "allocate", "--tlab", "huge"], &["'huge' is not a valid thread buffer", "such as 4k"]);
    run(&["--program", "allocate", "--tlab", "8"], &["256 bytes"]);
    run(&["--program", "allocate", "--l3-size", "1m"], &["--l3-size", "--levels l3"]);
    run(&["--program", "allocate", "--levels", "core", "--core-size", "9q"], &["--core-size", "such as 64k"]);
    run(&["--program", "allocate", "--levels", "core", "--core-size", "1g"], &["core buffer", "64m"]);
    run(&["--program", "allocate", "--threads", "0"], &["'0' is not a valid number of threads"]);
    run(&["--program", "allocate", "--threads", "9000"], &["9000 threads", "8192"]);
    run(&["--program", "allocate", "--object", "3"], &["'3' is not a valid object size"]);
    run(&["--program", "allocate", "--work", "soon"], &["'soon' is not a valid number of cycles"]);
    run(&["--program", "allocate", "--length", "2"], &["'2' is not a valid simulated time", "such as 2ms"]);
    run(
        &["--program", "allocate", "--eden", "100k", "--tlab", "64k"],
        &["eden", "too small", "128k or more"],
    );
    refused("sweep", &["--machine", "opsian-haswell", "--program", "add"], &["no buffers to compare"]);
    refused(
        "sweep",
        &[&ALLOCATE[..], &["--out", "/no/such/x.csv"]].concat(),
        &["--out /no/such/x.csv", "specify a writable file"],
    );
    refused("sweep", &[&ALLOCATE[..], &["--package-size", "1m"]].concat(), &["--package-size"]);
    refused("explian", &[], &["explian", "did you mean explain"]);
}

#[test]
fn help_teaches_by_examples() {
    for command in ["list", "machine", "run", "sweep", "explain"] {
        let help = good(command, &["--help"]);
        assert!(help.contains("Usage: terrace sim"), "{help}");
        assert!(command == "list" || help.contains("Examples:\n  terrace sim "), "{help}");
    }
}
