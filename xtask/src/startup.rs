//! What loading the agent adds to a trivial program.

use crate::build;
use crate::measure::{keep, shown, supported_jdks, table_of, to_its_end};
use jvm::jdk::Jdk;
use jvm::{Error, Result};
use serde_json::json;
use statistics::{Interval, bootstrap};
use std::process::{Command, Stdio};

/// Options of `startup`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Pairs of runs for each JDK.
    #[arg(long, default_value_t = 30)]
    pairs: usize,
}

/// One run: milliseconds of wall time, and the most KB that were resident.
fn once(jdk: &Jdk, agent: Option<&str>) -> Result<(f64, f64)> {
    let install = build::installed();
    let mut command = Command::new(jdk.java());
    command.args(agent).arg("-jar").arg(install.workloads()?).arg("list").stdout(Stdio::null());
    let (time, exit) = to_its_end(jdk, &mut command)?;
    Ok((time.as_secs_f64() * 1e3, exit.resident as f64 / 1024.0))
}

/// Measures in pairs A B B A and shows the differences.
pub fn run(arguments: &Arguments) -> Result<()> {
    build::all()?;
    let agent = format!("-agentpath:{}", build::installed().agent()?.display());
    let mut rows = table_of(&["terrace - stock", "wall time, ms", "resident, MB"]);
    let mut cells = Vec::new();
    for jdk in supported_jdks() {
        let (mut time, mut memory) = (Vec::new(), Vec::new());
        for pair in 0..arguments.pairs + 1 {
            let first = once(&jdk, (pair % 2 == 0).then_some(agent.as_str()))?;
            let second = once(&jdk, (pair % 2 == 1).then_some(agent.as_str()))?;
            let (with, without) = if pair % 2 == 0 { (first, second) } else { (second, first) };
            if pair > 0 {
                time.push(with.0 - without.0);
                memory.push((with.1 - without.1) / 1024.0);
            }
        }
        let interval = |values: &[f64]| -> Result<Interval> {
            bootstrap(values, 1).ok_or_else(|| Error::usage("--pairs must be 1 or more"))
        };
        let (time, memory) = (interval(&time)?, interval(&memory)?);
        rows.add_row([jdk.describe(), shown(&time), shown(&memory)]);
        cells.push(json!({ "jdk": jdk.describe(), "pairs": arguments.pairs,
            "milliseconds": [time.low, time.median, time.high], "resident_mb": [memory.low, memory.median, memory.high] }));
    }
    println!("{rows}");
    keep("startup", &json!(cells))
}
