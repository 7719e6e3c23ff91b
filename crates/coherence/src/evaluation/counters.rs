//! Counters that others measured by the number of threads: the points are data, in `published.toml`.

use super::{Finding, Limit, Role, machine};
use crate::machine::Machine;
use crate::programs::Options;
use crate::programs::counters::{self, Increment};
use serde::Deserialize;
use std::io;

/// Simulated time in picoseconds.
const LENGTH: u64 = 500_000_000;
/// How near is near enough: what is asked of blind predictions.
const NEAR: f64 = 0.25;
/// Another operation is slower if it takes longer than by this.
const SAME: f64 = 0.05;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    points: Vec<Points>,
}

/// What one source measured on one machine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Points {
    source: String,
    /// Where to find it.
    #[serde(rename = "place")]
    _place: String,
    machine: String,
    role: Role,
    series: Vec<Series>,
}

/// Nanoseconds of a thread for an operation, for 1, 2, 3 and more threads.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Series {
    what: String,
    increment: Name,
    nanoseconds: Vec<f64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Name {
    OwnPlain,
    OwnCas,
    Xadd,
    Cas,
}

impl Name {
    const fn increment(self) -> Increment {
        match self {
            Name::OwnPlain => Increment::OwnPlain,
            Name::OwnCas => Increment::OwnCompareExchange,
            Name::Xadd => Increment::ExchangeAdd,
            Name::Cas => Increment::CompareExchange,
        }
    }
}

fn nanoseconds(machine: &Machine, increment: Increment, threads: u32) -> io::Result<f64> {
    let options = Options { threads, pinned: true, seed: 1, length: LENGTH, events: 0 };
    let run = counters::run(machine, increment, &options)?;
    Ok(f64::from(threads) * 1e9 / run.per_second())
}

pub(super) fn evaluate() -> io::Result<Vec<Finding>> {
    let file: File = match toml::from_str(include_str!("../../published.toml")) {
        Ok(file) => file,
        // A test reads it.
        Err(error) => unreachable!("published.toml: {error}"),
    };
    let mut findings = Vec::new();
    for points in file.points {
        let machine = machine(&points.machine);
        let mut simulated = Vec::new();
        for series in &points.series {
            let threads = 1..=series.nanoseconds.len() as u32;
            let found = threads.map(|threads| nanoseconds(&machine, series.increment.increment(), threads));
            simulated.push(found.collect::<io::Result<Vec<f64>>>()?);
        }
        for (series, found) in points.series.iter().zip(&simulated) {
            for (threads, (published, simulated)) in (1..).zip(series.nanoseconds.iter().zip(found)) {
                findings.push(Finding {
                    source: points.source.clone(),
                    what: format!("{}, {threads} threads, ns", series.what),
                    role: points.role,
                    published: Some(*published),
                    simulated: *simulated,
                    limit: Limit::Within(NEAR),
                });
            }
        }
        findings.push(order(&points, &simulated));
    }
    Ok(findings)
}

/// How many pairs of operations with the same threads are in the published order.
fn order(points: &Points, simulated: &[Vec<f64>]) -> Finding {
    let (mut pairs, mut right) = (0, 0);
    for (number, one) in points.series.iter().enumerate() {
        for (other, found) in points.series.iter().zip(simulated).skip(number + 1) {
            let both =
                one.nanoseconds.iter().zip(&other.nanoseconds).zip(simulated[number].iter().zip(found));
            for ((one, other), (found_one, found_other)) in both {
                if (one / other - 1.0).abs() > SAME {
                    pairs += 1;
                    right += u32::from((one < other) == (found_one < found_other));
                }
            }
        }
    }
    Finding {
        source: points.source.clone(),
        what: format!("pairs of operations in the published order, of {pairs}"),
        role: points.role,
        published: Some(f64::from(pairs)),
        simulated: f64::from(right),
        limit: Limit::AtLeast(f64::from(pairs)),
    }
}
