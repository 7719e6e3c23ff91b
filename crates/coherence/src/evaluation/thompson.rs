//! Thompson, "Adventures with AtomicLong" (2011): counters that all threads increment.

use super::setting::Setting;
use super::{Finding, Limit, Role, published};
use crate::machine::Machine;
use crate::programs::Options;
use crate::programs::counters::{self, Increment, Layout};
use std::io;

const SOURCE: &str = "Thompson 2011";
/// Simulated time in picoseconds.
const LENGTH: u64 = 1_000_000_000;
/// "From three threads on it levels out."
const LEVEL: u32 = 3;

fn millions(setting: &Setting, machine: &Machine, increment: Increment) -> io::Result<Vec<f64>> {
    (1..=machine.shape.cpus())
        .map(|threads| {
            let options = Options { threads, pinned: true, seed: setting.seed, length: LENGTH, events: 0 };
            let run = counters::run_with(machine, increment, Layout::Shared, setting.cycles(), &options)?;
            Ok(run.per_second() / 1e6)
        })
        .collect()
}

pub(super) fn evaluate(setting: &Setting) -> io::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut contended = Vec::new();
    for (name, shown, key) in [
        ("thompson-nehalem", "Nehalem", "nehalem-xadd"),
        ("thompson-sandy-bridge", "Sandy Bridge", "sandy-bridge-xadd"),
    ] {
        let (machine, (level, role)) = (setting.machine(name), published::value(key));
        let add = millions(setting, &machine, Increment::ExchangeAdd)?;
        let exchange = millions(setting, &machine, Increment::CompareExchange)?;
        let plateau = &add[LEVEL as usize - 1..];
        let mean = plateau.iter().sum::<f64>() / plateau.len() as f64;
        let lowest = plateau.iter().copied().fold(f64::INFINITY, f64::min) / plateau[0];
        let spread = plateau.iter().copied().fold(0.0, f64::max) / plateau[0];
        let cores = machine.shape.cores() as usize;
        let all = machine.shape.cpus() as usize;
        let mut say = |what: &str, role, published, simulated, limit| {
            findings.push(Finding {
                source: SOURCE.into(),
                what: format!("{shown}: {what}"),
                role,
                published,
                simulated,
                limit,
                range: None,
            });
        };
        say(
            "lock xadd, millions per second, mean over 3 and more threads",
            role,
            Some(level),
            mean,
            Limit::Within(0.25),
        );
        say(
            "lock xadd levels off: highest over 3 threads",
            Role::Predicted,
            None,
            spread,
            Limit::AtMost(1.35),
        );
        say(
            "lock xadd levels off: lowest over 3 threads",
            Role::Predicted,
            None,
            lowest,
            Limit::AtLeast(1.0 / 1.35),
        );
        say(
            "lock cmpxchg degrades: a thread on each core over 2 threads",
            Role::Predicted,
            None,
            exchange[cores - 1] / exchange[1],
            Limit::AtMost(0.9),
        );
        say(
            "lock cmpxchg keeps degrading: all hardware threads over a thread on each core",
            Role::Predicted,
            None,
            exchange[all - 1] / exchange[cores - 1],
            Limit::AtMost(1.0),
        );
        say(
            "lock xadd over lock cmpxchg, all hardware threads",
            Role::Predicted,
            None,
            add[all - 1] / exchange[all - 1],
            Limit::AtLeast(2.0),
        );
        contended.push((mean, exchange[all - 1]));
    }
    findings.push(Finding {
        source: SOURCE.into(),
        what: "lock cmpxchg under contention, Nehalem over Sandy Bridge".into(),
        role: Role::Predicted,
        published: None,
        simulated: contended[0].1 / contended[1].1,
        limit: Limit::AtLeast(1.5),
        range: None,
    });
    Ok(findings)
}
