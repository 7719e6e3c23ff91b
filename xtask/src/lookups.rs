//! How long the agent looks for HotSpot's names and places, on each JDK and collector that is there.

use crate::measure::{publish, spread};
use crate::shell::root;
use crate::{build, child, jdks};
use jvm::Result;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// JVMs of each JDK and collector.
const PROCESSES: usize = 9;
const COLLECTORS: [&str; 5] = ["Serial", "Parallel", "G1", "Epsilon", "Shenandoah"];

/// Measures, and writes a run that `cargo xtask results` takes.
pub fn run() -> Result<()> {
    let agent = build::agent()?;
    let mut found: BTreeMap<(u32, String, String), Vec<f64>> = BTreeMap::new();
    for java in javas() {
        for (place, collector) in COLLECTORS.iter().enumerate() {
            for _ in 0..PROCESSES {
                // A build that lacks the collector, or a version that is refused, has nothing to tell.
                let Some((jdk, name, millis)) = ask(&java, &agent, collector)? else { break };
                let feature = jdk.split(['.', '+', '-']).next().and_then(|number| number.parse().ok());
                found.entry((feature.unwrap_or(0), jdk, format!("{place}{name}"))).or_default().push(millis);
            }
        }
    }
    let cell = |((_, jdk, name), values): ((u32, String, String), Vec<f64>)| {
        json!({ "parameters": { "jdk": jdk, "collector": name[1..] }, "processes": values.len(),
            "metrics": { "lookup": spread(&values) } })
    };
    publish("lookups", &found.into_iter().map(cell).collect::<Vec<_>>())
}

fn javas() -> Vec<PathBuf> {
    let fetched = std::fs::read_dir(root().join("target/jdks")).into_iter().flatten().flatten();
    let fetched = fetched.map(|entry| entry.path().join("bin/java")).filter(|java| java.is_file());
    let mut all: Vec<PathBuf> = jdks::all().iter().map(jvm::jdk::Jdk::java).chain(fetched).collect();
    all.sort();
    all.dedup_by_key(|java| java.canonicalize().unwrap_or_else(|_| java.clone()));
    all
}

/// `terrace: debug: JDK 25.0.3+9-LTS, G1: found in 2345 us`.
fn ask(java: &Path, agent: &Path, collector: &str) -> Result<Option<(String, String, f64)>> {
    let output = child::output(
        Command::new(java)
            .args(["-XX:+UnlockExperimentalVMOptions", &format!("-XX:+Use{collector}GC")])
            .arg(format!("-agentpath:{}=log=debug", agent.display()))
            .args(["-Xmx64m", "-version"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped()),
    )?;
    let said = String::from_utf8_lossy(&output.stderr);
    Ok(said.lines().find_map(|line| {
        let (jdk, rest) = line.strip_prefix("terrace: debug: JDK ")?.split_once(", ")?;
        let (name, took) = rest.split_once(": found in ")?;
        let micros: f64 = took.strip_suffix(" us")?.parse().ok()?;
        Some((jdk.to_owned(), name.to_owned(), micros / 1000.0))
    }))
}
