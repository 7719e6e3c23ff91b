//! Counters that others measured by the number of threads: the points are data, in `published.toml`.

use super::published::{self, Series};
use super::setting::Setting;
use super::{Finding, Limit};
use crate::machine::Machine;
use crate::programs::Options;
use crate::programs::counters::{self, Increment, Layout};
use std::io;

/// Simulated time in picoseconds.
const LENGTH: u64 = 500_000_000;
/// How near is near enough: what is asked of blind predictions.
const NEAR: f64 = 0.25;
/// Another operation is slower if it takes longer than by this.
const SAME: f64 = 0.05;

/// Nanoseconds of a thread for an operation, by the number of threads.
pub(super) fn simulate(
    setting: &Setting,
    machine: &Machine,
    increment: Increment,
    layout: Layout,
    threads: usize,
) -> io::Result<Vec<f64>> {
    let nanoseconds = |threads| {
        let options = Options { threads, pinned: true, seed: setting.seed, length: LENGTH, events: 0 };
        let run = counters::run_with(machine, increment, layout, setting.cycles(), &options)?;
        Ok(f64::from(threads) * 1e9 / run.per_second())
    };
    (1..=threads as u32).map(nanoseconds).collect()
}

/// A series and what the simulator says of it.
type Compared<'a> = (&'a Series, Vec<f64>);

pub(super) fn evaluate(setting: &Setting) -> io::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut known: Vec<(&str, Compared<'_>)> = Vec::new();
    for (role, points) in published::counters() {
        let name = points.machine.as_str();
        let machine = setting.machine(name);
        let before = known.len();
        for series in &points.series {
            let (increment, layout) = (series.increment.increment(), series.increment.layout());
            let simulated = simulate(setting, &machine, increment, layout, series.nanoseconds.len())?;
            for (threads, (published, simulated)) in (1..).zip(series.nanoseconds.iter().zip(&simulated)) {
                findings.push(Finding {
                    source: points.source.clone(),
                    what: format!("{}, {threads} threads, ns", series.what),
                    role,
                    published: Some(*published),
                    simulated: *simulated,
                    limit: Limit::Within(NEAR),
                    range: None,
                });
            }
            known.push((name, (series, simulated)));
        }
        let (mut pairs, mut right) = (0, 0);
        for (number, (_, one)) in known.iter().enumerate().skip(before) {
            for (_, other) in known[..number].iter().filter(|(machine, _)| *machine == name) {
                let (all, found) = order(one, other);
                (pairs, right) = (pairs + all, right + found);
            }
        }
        findings.push(Finding {
            source: points.source.clone(),
            what: format!("pairs of operations in the published order, of {pairs}"),
            role,
            published: Some(f64::from(pairs)),
            simulated: f64::from(right),
            limit: Limit::AtLeast(f64::from(pairs)),
            range: None,
        });
    }
    Ok(findings)
}

/// Of two operations with the same threads: how many pairs differ, and how many of those are in the published order.
fn order(one: &Compared<'_>, other: &Compared<'_>) -> (u32, u32) {
    let published = one.0.nanoseconds.iter().zip(&other.0.nanoseconds);
    let both = published.zip(one.1.iter().zip(&other.1));
    let differ = both.filter(|((one, other), _)| (*one / *other - 1.0).abs() > SAME);
    differ.fold((0, 0), |(pairs, right), ((one, other), (found_one, found_other))| {
        (pairs + 1, right + u32::from((one < other) == (found_one < found_other)))
    })
}
