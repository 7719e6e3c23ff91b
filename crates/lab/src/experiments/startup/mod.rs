//! `startup`: what loading the agent adds to a program that prints five lines.

use crate::experiment::claim::OWN;
use crate::experiment::{
    Bench, Better, Cell, Claim, Declaration, Experiment, Kind, Measured, MeasuredCell, Metric, NO_ANSWER,
    Parameter, Plan, Plot, Relation, Runner, Sample, Term, compared, parameters,
};
use crate::{Error, Result};
use jvm::install::Install;
use jvm::jdk::Jdk;
use present::numbers;
use statistics::FEW_PAIRS;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What loading the agent may add: milliseconds, and megabytes.
const MOST: [(&str, &str, f64); 2] =
    [("wall", "loading the agent takes at most 15 ms", 15.0), ("resident", "it takes at most 2 MB", 2.0)];

pub fn experiment() -> Experiment {
    Experiment { declaration: declaration(), plan, derive: None, claims, answer }
}

fn declaration() -> Declaration {
    let metric = |key, name, unit, text| Metric::new(key, name, unit, Better::Lower, text);
    Declaration {
        name: "startup".into(),
        title: "What loading the agent costs".into(),
        question: "What does loading the agent add to a program that prints five lines?".into(),
        parameters: vec![Parameter::new("jdk", "JDK", "")],
        metrics: vec![
            metric(
                "wall",
                "wall time",
                "ms",
                "wall time of a whole JVM with the agent, less that of the JVM beside it",
            ),
            metric(
                "resident",
                "resident",
                "MB",
                "the most memory that was resident with the agent, less that without",
            ),
        ],
        plots: vec![Plot::new(Kind::Bars, "Added wall time", "wall", "jdk", &[])],
        by_name: true,
        ..Declaration::default()
    }
}

fn plan(bench: &Bench) -> Result<Plan> {
    let cell = |jdk: &Jdk| {
        let (own, install) = (jdk.clone(), bench.install.clone());
        let begun = std::cell::Cell::new(false);
        let runner = Runner::native(move || {
            // What the first JVM reads from disk is there for all others.
            if !begun.replace(true) {
                pair(&own, &install)?;
            }
            pair(&own, &install)
        });
        Cell { parameters: parameters([("jdk", jdk.feature.into())]), seconds: 1.0, runner }
    };
    Ok(compared::plan(bench, bench.effort.pick(10, 30), bench.jdks.iter().map(cell).collect()))
}

/// With, without, without, with: what drifts steadily cancels out.
fn pair(jdk: &Jdk, install: &Install) -> Result<Sample> {
    let agent = format!("-agentpath:{}", install.agent()?.display());
    let mut added = [0.0; 2];
    for with in [true, false, false, true] {
        let (time, resident) = once(jdk, install, with.then_some(agent.as_str()))?;
        let sign = if with { 0.5 } else { -0.5 };
        added[0] += sign * time.as_secs_f64() * 1e3;
        added[1] += sign * resident;
    }
    let sample = Sample { processes: 4, ..Sample::default() };
    Ok(sample.value("wall", added[0]).value("resident", added[1]))
}

/// A JVM to its end: wall time, and the most MB that were resident.
fn once(jdk: &Jdk, install: &Install, agent: Option<&str>) -> Result<(Duration, f64)> {
    let failed = |error: std::io::Error| Error::failed(format!("{}: {error}", jdk.java().display()));
    let mut command = Command::new(jdk.java());
    command.args(agent).arg("-jar").arg(install.workloads()?).arg("list").stdout(Stdio::null());
    let since = Instant::now();
    let child = command.spawn().map_err(failed)?;
    loop {
        match jvm::os::reap(child.id()).map_err(failed)? {
            Some(exit) if exit.code == Some(0) => {
                return Ok((since.elapsed(), exit.resident as f64 / f64::from(1 << 20)));
            }
            Some(_) => {
                return Err(Error::failed(format!("{} failed; see its output above", jdk.describe())));
            }
            None => std::thread::sleep(Duration::from_micros(200)),
        }
    }
}

/// Whether a cell has so many rounds that they say something of their scatter.
pub(super) fn enough(cell: &MeasuredCell) -> std::result::Result<(), String> {
    let few = format!("{} rounds are few; run it with --rounds {FEW_PAIRS} or more", cell.runs);
    if cell.runs < FEW_PAIRS { Err(few) } else { Ok(()) }
}

fn claims(_: &Measured) -> Vec<Claim> {
    let claim = |(metric, text, most)| {
        let added = Term::metric("added", metric);
        Claim::new(text, OWN).each("jdk").usable(enough).that(added.is(Relation::AtMost(1.0), most))
    };
    MOST.map(claim).into()
}

fn answer(measured: &Measured) -> String {
    let each = measured.cells.iter().filter_map(|cell| {
        let of = |metric: &str| cell.metrics.get(metric)?.interval();
        let (wall, resident) =
            (numbers::interval(&of("wall")?, "ms"), numbers::interval(&of("resident")?, "MB"));
        Some(format!("JDK {} {wall} and {resident}", cell.parameters.get("jdk")?))
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() { NO_ANSWER.into() } else { each.join("; ") + "." }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::fixture::{cell, conclude, holds};

    #[test]
    fn what_is_added_is_held_to_its_limits_on_every_jdk() {
        let of = |jdk: u32, wall, resident| {
            let at = parameters([("jdk", jdk.into())]);
            MeasuredCell { runs: 6, ..cell(at, &[("wall", wall), ("resident", resident)]) }
        };
        let (answer, checks) = conclude(&experiment(), &[of(25, 7.0, 0.9), of(17, 3.0, 2.0)]);
        assert_eq!(holds(&checks), [Some(true), None]);
        assert!(answer.starts_with("JDK 25 7.00 [6.93, 7.07] ms and 900 ["), "{answer}");
        let few = MeasuredCell { runs: 3, ..of(25, 17.0, 0.9) };
        assert_eq!(holds(&conclude(&experiment(), &[few]).1), [None, None]);
        assert_eq!(
            holds(&conclude(&experiment(), &[of(25, 17.0, 0.9), of(17, 3.0, 0.5)]).1),
            [Some(false), Some(true)]
        );
    }
}
