//! `startup`: what loading the agent adds to a program that prints five lines, in each way of loading it.

use crate::{Error, Result};
use experiment::claim::OWN;
use experiment::{
    Bench, Better, Cell, Claim, Declaration, Experiment, Kind, Measured, MeasuredCell, Metric, NO_ANSWER,
    Parameter, Plan, Plot, Relation, Runner, Sample, Term, compared, parameters,
};
use jvm::install::Install;
use jvm::jdk::Jdk;
use present::numbers;
use statistics::FEW_PAIRS;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What loading the agent may add: how, which metric, in words, and milliseconds or megabytes.
const MOST: [(Way, &str, &str, f64); 4] = [
    (Way::Agentpath, "wall", "-agentpath takes at most 15 ms", 15.0),
    (Way::Agentpath, "resident", "-agentpath takes at most 2 MB", 2.0),
    (Way::Jar, "wall", "-javaagent takes at most 40 ms", 40.0),
    (Way::Jar, "resident", "-javaagent takes at most 6 MB", 6.0),
];

/// How the agent is loaded.
#[derive(Clone, Copy)]
enum Way {
    Agentpath,
    Jar,
    /// An agent in Java that does nothing: what HotSpot's own part of `-javaagent` costs.
    Empty,
}

impl Way {
    const ALL: [Way; 3] = [Way::Agentpath, Way::Jar, Way::Empty];

    fn name(self) -> &'static str {
        match self {
            Way::Agentpath => "-agentpath",
            Way::Jar => "-javaagent",
            Way::Empty => "empty -javaagent",
        }
    }

    fn flag(self, install: &Install) -> Result<String> {
        Ok(match self {
            Way::Agentpath => format!("-agentpath:{}", install.agent()?.display()),
            Way::Jar => format!("-javaagent:{}", install.jar()?.display()),
            Way::Empty => format!("-javaagent:{}", install.workloads()?.display()),
        })
    }
}

pub fn experiment() -> Experiment {
    Experiment::new(declaration(), plan, claims, answer)
}

fn declaration() -> Declaration {
    let metric = |key, name, unit, text| Metric::new(key, name, unit, Better::Lower, text);
    Declaration {
        name: "startup".into(),
        title: "What loading the agent costs".into(),
        question:
            "What does loading the agent add to a program that prints five lines, in each way of loading it?"
                .into(),
        parameters: vec![Parameter::new("jdk", "JDK", ""), Parameter::new("agent", "loaded by", "")],
        metrics: vec![
            metric(
                "wall",
                "wall time",
                "ms",
                "wall time of a whole JVM with the agent, minus that of the paired JVM",
            ),
            metric("resident", "resident", "MB", "peak resident memory with the agent, minus that without"),
        ],
        plots: vec![Plot::new(Kind::Bars, "Added wall time", "wall", "jdk", &["agent"])],
        by_name: true,
        ..Declaration::default()
    }
}

fn plan(bench: &Bench) -> Result<Plan> {
    let cell = |(jdk, way): (&Jdk, Way)| {
        let (own, install) = (jdk.clone(), bench.install.clone());
        let begun = std::cell::Cell::new(false);
        let runner = Runner::native(move || {
            // What the first JVM reads from disk is there for all others.
            if !begun.replace(true) {
                pair(&own, &install, way)?;
            }
            pair(&own, &install, way)
        });
        let at = parameters([("jdk", jdk.feature.into()), ("agent", way.name().into())]);
        Cell { parameters: at, seconds: 1.0, runner }
    };
    let cells = bench.jdks.iter().flat_map(|jdk| Way::ALL.map(|way| (jdk, way))).map(cell).collect();
    Ok(compared::plan(bench, bench.effort.pick(10, 30), cells))
}

/// With, without, without, with: what drifts steadily cancels out.
fn pair(jdk: &Jdk, install: &Install, way: Way) -> Result<Sample> {
    let agent = way.flag(install)?;
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
    // Without it, four lines of warning are a part of what the jar costs (JEP 472).
    let native = (jdk.feature >= 24).then_some("--enable-native-access=ALL-UNNAMED");
    command.args(native).args(agent).arg("-jar").arg(install.workloads()?).arg("list").stdout(Stdio::null());
    let since = Instant::now();
    let child = command.spawn().map_err(failed)?;
    loop {
        match jvm::os::reap(child.id()).map_err(failed)? {
            Some(exit) if exit.code == Some(0) => {
                return Ok((since.elapsed(), megabytes(exit.resident)));
            }
            Some(_) => {
                return Err(Error::failed(format!("{} failed; see its output above", jdk.describe())));
            }
            None => std::thread::sleep(Duration::from_micros(200)),
        }
    }
}

/// As all quantities that are printed: in powers of 1000.
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Whether a cell has so many rounds that they say something of their scatter.
pub(super) fn enough(cell: &MeasuredCell) -> std::result::Result<(), String> {
    let few = format!("{} rounds are too few; run it with --rounds {FEW_PAIRS} or more", cell.runs);
    if cell.runs < FEW_PAIRS { Err(few) } else { Ok(()) }
}

fn claims(_: &Measured) -> Vec<Claim> {
    let claim = |(way, metric, text, most): (Way, _, _, _)| {
        let added = Term::metric("added", metric).at("agent", way.name());
        Claim::new(text, OWN).each("jdk").usable(enough).that(added.is(Relation::AtMost(1.0), most))
    };
    MOST.map(claim).into()
}

fn answer(measured: &Measured) -> String {
    let each = measured.cells.iter().filter_map(|cell| {
        let of = |metric: &str| cell.metrics.get(metric)?.interval();
        let (wall, resident) =
            (numbers::interval(&of("wall")?, "ms"), numbers::interval(&of("resident")?, "MB"));
        let at = |key| cell.parameters.get(key);
        Some(format!("JDK {}, {}: {wall} and {resident}", at("jdk")?, at("agent")?))
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() { NO_ANSWER.into() } else { each.join("; ") + "." }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::fixture::{cell, conclude, holds};

    #[test]
    fn a_megabyte_is_a_million_bytes() {
        assert_eq!(numbers::quantity(megabytes(1_145_900), "MB"), "1.15 MB");
    }

    #[test]
    fn what_is_added_is_held_to_the_limits_of_its_way_on_every_jdk() {
        let of = |jdk: u32, way: Way, wall, resident| {
            let at = parameters([("jdk", jdk.into()), ("agent", way.name().into())]);
            MeasuredCell { runs: 6, ..cell(at, &[("wall", wall), ("resident", resident)]) }
        };
        let cells = [
            of(25, Way::Agentpath, 7.0, 0.9),
            of(25, Way::Jar, 50.0, 5.0),
            of(25, Way::Empty, 99.0, 9.0),
            of(17, Way::Agentpath, 3.0, 2.0),
            of(17, Way::Jar, 39.0, 5.0),
        ];
        let (answer, checks) = conclude(&experiment(), &cells);
        assert_eq!(holds(&checks), [Some(true), None, Some(false), Some(true)]);
        assert!(answer.starts_with("JDK 25, -agentpath: 7.00 [6.93, 7.07] ms and 900 ["), "{answer}");
        let few = MeasuredCell { runs: 3, ..of(25, Way::Agentpath, 17.0, 0.9) };
        assert_eq!(holds(&conclude(&experiment(), &[few]).1), [None; 4]);
    }
}
