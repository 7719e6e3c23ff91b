//! `terrace lab` by its users' words. Native cells only: they are real, short, and need nothing installed.
#![cfg(feature = "lab")]

mod common;
#[path = "common/cpus.rs"]
mod cpus;

use common::{Home, PATIENCE, assert_refused, errors, shown, text};
use cpus::limit_cpus;
use serde_json::Value;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

/// One cell of `atomics`, in every round.
const ONE: [&str; 6] =
    ["atomics", "--only", "operation=lock xadd", "--only", "threads=1", "--only=layout=shared"];

fn results(folder: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join("results.json")).unwrap()).unwrap()
}

fn run(home: &Home, folder: &Path, arguments: &[&str]) -> Output {
    let folder = text(folder);
    let mut all = vec!["lab", "run", "--out", &folder];
    all.extend(arguments);
    home.terrace(&all).output().unwrap()
}

#[test]
fn the_list_tells_what_each_experiment_asks() {
    let home = Home::new("exit 0");
    let output = home.terrace(&["lab", "list"]).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    for name in ["atomics", "tlab", "hab", "zeroing", "pages", "latency", "defaults"] {
        assert!(shown(&output).contains(name), "{name} in:\n{}", shown(&output));
    }
    assert!(shown(&output).lines().all(|line| line.chars().count() <= 100), "fits a terminal");
    let json = home.terrace(&["lab", "list", "--format", "json"]).output().unwrap();
    let list: Value = serde_json::from_str(&shown(&json)).unwrap();
    for one in list.as_array().unwrap() {
        let metric = &one["declaration"]["metrics"][0];
        let [definition, unit] = ["definition", "unit"].map(|key| metric[key].as_str().unwrap());
        // The simulator's constants have different units, which stand beside their names.
        assert!(!definition.is_empty(), "{metric}");
        assert!(!unit.is_empty() || definition.contains("in the constant's unit"), "{metric}");
        assert!(one["declaration"]["question"].as_str().unwrap().ends_with('?'));
        // Programs that are not there take no time, and that is not less than nothing.
        let seconds = one["quick_seconds"].as_f64().unwrap();
        let fetched = one["declaration"]["name"] != "applications";
        assert!(if fetched { seconds > 0.0 } else { seconds.is_sign_positive() }, "{one}");
    }
}

/// Ten minutes, less half of one for `latency`, which measures the sizes of the machine's own caches.
const QUICK_SECONDS: f64 = 570.0;

/// As planned for two CPUs and one JDK, without perf and without pools of huge pages: what a machine has beyond that is measured as well.
#[test]
fn the_quick_run_of_everything_is_planned_for_less_than_ten_minutes() {
    if has_huge_pages() {
        skips::skip!("the plan of a quick run: there are pools of huge pages, whose cells are planned, too");
        return;
    }
    let home = Home::new("exit 0");
    let mut command = home.terrace(&["lab", "list", "--format", "json"]);
    limit_cpus(&mut command, 2);
    let json = command.env("PATH", "").output().unwrap();
    let list: Value = serde_json::from_str(&shown(&json)).unwrap();
    let counted =
        |one: &&Value| one["declaration"]["by_name"] == false && one["declaration"]["name"] != "latency";
    let planned = list.as_array().unwrap().iter().filter(counted);
    let seconds: f64 = planned.map(|one| one["quick_seconds"].as_f64().unwrap()).sum();
    assert!(seconds < QUICK_SECONDS, "{seconds}");
}

fn has_huge_pages() -> bool {
    let pools = std::fs::read_dir("/sys/kernel/mm/hugepages").into_iter().flatten().flatten();
    let free = |pool: std::fs::DirEntry| std::fs::read_to_string(pool.path().join("free_hugepages"));
    pools.filter_map(|pool| free(pool).ok()).any(|pages| pages.trim() != "0")
}

#[test]
fn a_run_leaves_tables_json_csv_and_a_page() {
    let home = Home::new("exit 0");
    let folder = home.path("results");
    let output = run(&home, &folder, &ONE);
    assert!(output.status.success(), "{}", errors(&output));
    assert!(
        shown(&output).contains("lock xadd") && shown(&output).contains("index.html"),
        "{}",
        shown(&output)
    );
    let results = results(&folder);
    assert_eq!(results["schema"], 1);
    assert_eq!(results["state"], "finished");
    let cell = &results["experiments"][0]["cells"][0];
    assert_eq!(cell["parameters"]["operation"], "lock xadd");
    let ns = &cell["metrics"]["ns"];
    let of = |key: &str| ns[key].as_f64().unwrap();
    assert!(of("low") <= of("median") && of("median") <= of("high") && of("low") > 0.0, "{ns}");
    let csv = std::fs::read_to_string(folder.join("atomics.csv")).unwrap();
    assert!(csv.lines().next().unwrap().contains("metric") && csv.contains("lock xadd"));
    let page = std::fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(page.contains("<title>") && !page.contains("src=\"http"));

    let again = home.terrace(&["lab", "report", &text(&folder)]).output().unwrap();
    assert!(again.status.success() && shown(&again).contains("lock xadd"), "{}", errors(&again));

    // One cell of atomics describes no machine.
    assert!(shown(&again).contains("nothing simulated"), "{}", shown(&again));
    let machine = home.terrace(&["lab", "machine", &text(&folder)]).output().unwrap();
    assert_refused(&machine, 1, &["latencies were not measured", "terrace lab run latency"]);

    let longer = home.terrace(&["lab", "run", "--resume", "--out", &text(&folder), "--seconds", "60"]);
    let parts = ["--seconds 60", "the experiments' own", "omit --seconds"];
    assert_refused(&{ longer }.output().unwrap(), 2, &parts);

    let second = run(&home, &folder, &ONE);
    assert_refused(&second, 2, &["already holds a run", "--resume", "--out"]);

    let other = home.path("other");
    assert!(run(&home, &other, &ONE).status.success());
    let diff =
        home.terrace(&["lab", "diff", &text(&folder), &text(&other), "--format", "json"]).output().unwrap();
    assert!(diff.status.success(), "{}", errors(&diff));
    assert!(serde_json::from_str::<Value>(&shown(&diff)).unwrap().is_object());
    let table = home.terrace(&["lab", "diff", &text(&folder), &text(&other)]).output().unwrap();
    assert!(shown(&table).contains("compared)") || shown(&table).contains("B/A"), "{}", shown(&table));
}

#[test]
fn json_is_all_that_standard_output_gets_when_asked_for() {
    let home = Home::new("exit 0");
    let mut arguments = ONE.to_vec();
    arguments.extend(["--format", "json"]);
    let output = run(&home, &home.path("results"), &arguments);
    let results: Value = serde_json::from_str(&shown(&output)).unwrap();
    assert_eq!(results["experiments"][0]["declaration"]["name"], "atomics");
    assert!(errors(&output).contains("atomics"), "progress is told: {}", errors(&output));
}

/// The first samples are there, then comes Ctrl-C.
#[test]
fn what_ctrl_c_interrupts_is_kept_and_continued() {
    // A test that is late finds it finished, and begins again.
    while !is_interrupted_and_continued() {}
}

/// Whether it came in time.
fn is_interrupted_and_continued() -> bool {
    let home = Home::new("exit 0");
    let folder = home.path("results");
    let place = text(&folder);
    let arguments =
        ["lab", "run", "--out", &place, "atomics", "--only", "language=native", "--only", "threads=1"];
    let child = home.terrace(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let samples = folder.join("samples.jsonl");
    let deadline = Instant::now() + PATIENCE;
    let kept = || {
        std::fs::read_to_string(&samples)
            .unwrap_or_default()
            .lines()
            .filter(|line| line.starts_with("{\"sample\""))
            .count()
    };
    while kept() < 3 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(
        std::process::Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    if output.status.success() {
        return false;
    }
    assert_eq!(output.status.code(), Some(130), "{}", errors(&output));
    assert!(errors(&output).contains("lab run --resume --out"), "{}", errors(&output));
    let first = results(&folder);
    assert_eq!(first["state"], "interrupted");
    let before = kept();

    let output = home.terrace(&["lab", "run", "--resume", "--out", &place]).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let second = results(&folder);
    assert_eq!(second["state"], "finished");
    let runs = |results: &Value| -> u64 {
        results["experiments"][0]["cells"]
            .as_array()
            .unwrap()
            .iter()
            .map(|cell| cell["runs"].as_u64().unwrap())
            .sum()
    };
    assert!(runs(&first) >= 3 && runs(&first) < runs(&second));
    assert_eq!(runs(&second) as usize, kept(), "nothing was measured twice");
    let cells = |results: &Value| results["experiments"][0]["cells"].as_array().unwrap().len();
    assert!(before >= 3 && cells(&second) > 3);

    let mut part = vec!["--resume", "--only=layout=shared"];
    part.extend(&arguments[5..]);
    let output = run(&home, &folder, &part);
    assert!(output.status.success(), "{}", errors(&output));
    let third = results(&folder);
    assert_eq!((cells(&third), runs(&third)), (cells(&second), runs(&second)), "a part does not replace all");
    true
}

#[test]
fn wrong_words() {
    let home = Home::new("exit 0");
    let refused = |arguments: &[&str], parts: &[&str]| {
        let output = home.terrace(arguments).current_dir(home.path("jdk")).output().unwrap();
        assert_refused(&output, 2, parts);
    };
    refused(&["lab", "run", "atomic"], &["unknown experiment 'atomic'", "atomics, "]);
    refused(&["lab", "run", "atomics", "--only", "threads"], &["--only 'threads'", "threads=2"]);
    refused(&["lab", "run", "atomics", "--only", "threads=77"], &["no cell has threads=77"]);
    refused(&["lab", "run", "--quick", "--full"], &["--quick", "--full"]);
    refused(&["lab", "run", "--resume", "atomics"], &["--resume"]);
    refused(&["lab", "run", "--resume"], &["no run to continue", "--out"]);
    refused(&["lab", "run", "--java", "/no/jdk"], &["--java", "/no/jdk"]);
    refused(&["lab", "report", "/no/folder"], &["results.json", "terrace lab run"]);
    refused(&["lab", "diff", "/no/a", "/no/b"], &["/no/a/results.json"]);
    refused(&["lab", "machine", "/no/folder"], &["results.json", "terrace lab run"]);
    refused(&["lab", "reprot"], &["reprot", "did you mean report"]);
    assert!(!home.path("jdk/terrace-lab").exists(), "nothing is left behind");
}
