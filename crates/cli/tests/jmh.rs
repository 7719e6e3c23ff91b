//! The JMH profiler in a real benchmark: what it reports is what `-prof gc` and the sizes of buffers say.

#[path = "common/real.rs"]
mod real;

use real::{installed, java, stderr, stdout};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Every operation is one object of 48 bytes; a measurement is so many of them, however long they take.
const BATCH: f64 = 2e6;
const OBJECT: f64 = 48.0;
const TLAB: f64 = 4096.0;
const CORE: f64 = 65536.0;

/// The folder with everything, or the reason for skipping.
fn folder() -> Option<PathBuf> {
    let folder = installed()?;
    let missing =
        ["terrace-benchmarks.jar", "terrace-jmh.jar"].into_iter().find(|name| !folder.join(name).is_file());
    if let Some(missing) = missing {
        skips::skip!("{missing} is not beside the command; run cargo xtask build");
        return None;
    }
    Some(folder)
}

fn jmh(folder: &Path, collector: &str, profiler: &str, results: &Path) -> Command {
    let path = |name: &str| folder.join(name).display().to_string();
    let mut command = Command::new(java());
    command.args(["-Djmh.ignoreLock=true", "-cp"]);
    command.arg(format!("{}:{}", path("terrace-benchmarks.jar"), path("terrace-jmh.jar")));
    command.args(["org.openjdk.jmh.Main", "Tlab.object48$", "-bm", "ss", "-bs", &BATCH.to_string()]);
    command.args(["-f", "1", "-wi", "2", "-i", "4", "-t", "1", "-foe", "true", "-jvmArgs"]);
    command.arg(format!("-XX:+Use{collector}GC -Xmx128m"));
    command.args(["-prof", "gc", "-prof", &format!("terrace.jmh.TerraceProfiler{profiler}")]);
    command.args(["-rf", "json", "-rff"]).arg(results);
    for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "TERRACE_HOME"] {
        command.env_remove(variable);
    }
    command.env("TERRACE_LIBRARY", path("libterrace.so")).stdin(Stdio::null());
    command
}

/// What a run gave, by JMH's own file.
struct Results(Value);

impl Results {
    fn of(collector: &str, profiler: &str) -> Option<(Results, Output)> {
        let folder = folder()?;
        let file = tempfile::NamedTempFile::new().unwrap();
        let output = jmh(&folder, collector, profiler, file.path()).output().unwrap();
        assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
        let text = std::fs::read_to_string(file.path()).unwrap();
        let all: Value = serde_json::from_str(&text).unwrap();
        Some((Results(all[0]["secondaryMetrics"].clone()), output))
    }

    fn names(&self) -> Vec<&str> {
        let names = self.0.as_object().unwrap().keys().map(String::as_str);
        names.filter(|name| name.starts_with("terrace")).collect()
    }

    fn score(&self, name: &str) -> f64 {
        self.0[name]["score"].as_f64().unwrap_or_else(|| panic!("{name} in {:#}", self.0))
    }

    /// A score for each object; JMH takes a batch for one operation.
    fn each(&self, name: &str) -> f64 {
        self.score(name) / BATCH
    }

    /// How often for each object.
    fn rate(&self, name: &str) -> f64 {
        self.each(name) / 1e6
    }

    /// Its values, in the order of iterations.
    fn values(&self, name: &str) -> Vec<f64> {
        let fork = self.0[name]["rawData"][0].as_array();
        let fork = fork.unwrap_or_else(|| panic!("{name} in {:#}", self.0));
        fork.iter().map(|value| value.as_f64().unwrap()).collect()
    }
}

fn assert_about(what: &str, value: f64, from: f64, to: f64) {
    assert!((from..=to).contains(&value), "{what}: {value} is not within {from} and {to}");
}

#[test]
fn refills_times_their_size_are_the_bytes_that_were_allocated() {
    let Some((on, _)) = Results::of("Serial", ":options=core=64k,tlab=4k") else { return };
    let allocated = on.each("gc.alloc.rate.norm");
    assert_about("gc.alloc.rate.norm", allocated, OBJECT, 1.1 * OBJECT);
    // What a thread leaves unused in a TLAB is handed out, and not allocated: up to an eighth.
    let bytes = on.each("terrace.bytes.norm");
    assert_about("bytes handed out", bytes, allocated, 1.25 * allocated);
    assert_about("bytes of a refill", bytes / on.rate("terrace.refills"), 0.95 * TLAB, 1.1 * TLAB);
    assert_about("bytes of a request to the heap", bytes / on.rate("terrace.heap"), 0.8 * CORE, 1.05 * CORE);
    assert_about("waste", on.each("terrace.waste.norm"), 0.0, 0.05 * bytes);
    assert!(on.score("terrace.pauses") > 0.0, "400 MB through 128 MB");

    let Some((off, _)) = Results::of("Serial", ":options=core=64k,tlab=4k,start=off") else { return };
    assert_eq!(
        off.values("terrace.refills"),
        off.values("terrace.heap"),
        "all of them, and nothing from buffers"
    );
    assert_eq!(off.score("terrace.waste.norm"), 0.0);
    assert_about(
        "refills with buffers on",
        on.rate("terrace.refills") / off.rate("terrace.refills"),
        0.95,
        1.05,
    );
}

#[test]
fn iterations_are_compared_in_pairs_of_on_and_off() {
    let Some((both, _)) = Results::of("Parallel", ":compare=true;options=core=64k,tlab=4k") else { return };
    let [on, off, speed] =
        ["terrace.on.score", "terrace.off.score", "terrace.speed"].map(|name| both.values(name));
    assert_eq!((on.len(), off.len(), speed.len()), (2, 2, 2));
    // Seconds for a batch: with buffers it is faster if it takes less of them.
    for pair in 0..2 {
        assert_about("speed of a pair", speed[pair] / (off[pair] / on[pair]), 0.999_999, 1.000_001);
    }
    assert_about("speed", both.score("terrace.speed") / (speed[0] * speed[1]).sqrt(), 0.999_999, 1.000_001);
    assert_eq!(both.values("terrace.off.refills"), both.values("terrace.off.heap"));
    assert_about(
        "requests to the heap for each refill",
        both.score("terrace.on.heap") / both.score("terrace.on.refills"),
        0.5 * TLAB / CORE,
        1.5 * TLAB / CORE,
    );
}

#[test]
fn an_observer_times_the_refills_of_a_stock_heap() {
    let Some((stock, _)) = Results::of("G1", ":options=levels=none,times=true") else { return };
    assert_eq!(stock.values("terrace.refills"), stock.values("terrace.heap"));
    assert!(stock.score("terrace.refill.time") > 0.0);
}

#[test]
fn where_the_agent_refuses_the_benchmark_runs_and_one_line_says_why() {
    let Some((none, output)) = Results::of("Z", ":options=core=64k") else { return };
    assert_eq!(none.names(), [""; 0]);
    let said = stdout(&output) + &stderr(&output);
    assert_eq!(
        said.matches("terrace: no figures of this fork: the agent is refused: ZGC").count(),
        1,
        "{said}"
    );
}

#[test]
fn under_zgc_the_heap_is_counted() {
    let Some((stock, _)) = Results::of("Z", "") else { return };
    assert!(stock.score("terrace.heap") > 0.0);
    assert_eq!(stock.values("terrace.refills"), stock.values("terrace.heap"));
}

#[test]
fn what_is_missing_or_mistyped_is_one_line_before_anything_is_measured() {
    let Some(folder) = folder() else { return };
    for (parameters, remedy) in [
        (":library=/no/such/libterrace.so", "with library=PATH or TERRACE_LIBRARY"),
        (":compare=maybe", "use library=PATH, options=KEY=VALUE,... or compare=true"),
    ] {
        let output = jmh(&folder, "Serial", parameters, Path::new("/dev/null")).output().unwrap();
        let said = stdout(&output) + &stderr(&output);
        let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("terrace:")).collect();
        assert!(!output.status.success() && lines.len() == 1 && lines[0].contains(remedy), "{said}");
        assert!(!said.contains("Iteration"), "{said}");
    }
}
