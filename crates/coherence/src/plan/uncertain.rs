//! How sure a plan is: the same candidates with every number of the machine at both ends of its range, and with other seeds.

use super::steady::Steady;
use super::{Candidate, Request, collected, net};
use crate::constants::{self, Constant};
use crate::machine::{Bandwidth, Costs, Machine};
use crate::sweep;
use serde::Serialize;
use std::io;

/// Published to one value: this part of it either way.
const UNKNOWN: f64 = 0.2;
/// Seeds beside the one that was asked for.
const SEEDS: [u64; 2] = [101, 102];
/// A gain that is told of: with less nobody could measure it.
pub const TELLING: f64 = 1.02;

/// A group of numbers that are varied together, as they come from one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Transfers,
    Memory,
    Locked,
    Refill,
    Heap,
    Collections,
}

impl Group {
    const ALL: [Group; 6] =
        [Group::Transfers, Group::Memory, Group::Locked, Group::Refill, Group::Heap, Group::Collections];

    const fn name(self) -> &'static str {
        match self {
            Group::Transfers => "line transfers",
            Group::Memory => "memory and links",
            Group::Locked => "locked instruction",
            Group::Refill => "refill's call",
            Group::Heap => "heap's call",
            Group::Collections => "collections",
        }
    }
}

/// The ratio of the candidate to HotSpot's own TLABs where one group is at the ends of its range.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Influence {
    /// What is varied.
    pub parameter: &'static str,
    /// The ratio with all of it at its low end.
    pub low: f64,
    /// And at its high end.
    pub high: f64,
}

/// Over everything that was varied.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sureness {
    /// The least ratio.
    pub low: f64,
    /// The ratio with the values as they are.
    pub ratio: f64,
    /// The largest ratio.
    pub high: f64,
    /// By group, the one that decides most first.
    pub tornado: Vec<Influence>,
}

impl Sureness {
    /// Whether the candidate is faster whatever the numbers are.
    pub fn wins(&self) -> bool {
        self.low > TELLING
    }
}

/// An end of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Low,
    High,
}

/// A figure's end over its value.
fn factor(machine: &Machine, key: &str, end: End) -> f64 {
    let Some(figure) = machine.figure(key) else { return 1.0 };
    match (end, figure.low, figure.high) {
        (End::Low, Some(low), _) => low / figure.value,
        (End::High, _, Some(high)) => high / figure.value,
        (End::Low, None, _) => 1.0 - UNKNOWN,
        (End::High, _, None) => 1.0 + UNKNOWN,
    }
}

fn costs(machine: &Machine, keys: &[&str], end: End) -> Costs {
    let mut costs = machine.costs;
    for key in keys {
        let by = factor(machine, &format!("costs.{key}"), end);
        let cost = match *key {
            "transfer_cluster" => &mut costs.transfer_cluster,
            "transfer_package" => &mut costs.transfer_package,
            "transfer_remote" => &mut costs.transfer_remote,
            _ => &mut costs.locked,
        };
        *cost = (*cost as f64 * by).round() as u64;
    }
    if keys.contains(&"transfer_remote") {
        costs.home_remote = costs.home_remote.map(|home| home.max(costs.transfer_package));
    }
    costs.drain = costs.drain.min(costs.locked);
    costs
}

fn bandwidth(machine: &Machine, end: End) -> Bandwidth {
    let of = |key: &str| factor(machine, &format!("memory.{key}"), end);
    let Bandwidth { core, cluster, channels, link, traffic, last_cache } = machine.bandwidth;
    Bandwidth {
        core: core * of("core"),
        cluster: cluster * of("cluster"),
        channels: channels * of("channels"),
        link: link * of("link"),
        traffic,
        last_cache,
    }
}

const fn end_of(constant: Constant, end: End) -> f64 {
    match end {
        End::Low => constant.range.0,
        End::High => constant.range.1,
    }
}

fn varied(machine: &Machine, request: &Request, group: Group, end: End) -> (Machine, Request) {
    let (mut machine, mut request) = (machine.clone(), request.clone());
    match group {
        Group::Transfers => {
            let keys = ["transfer_cluster", "transfer_package", "transfer_remote"];
            machine.costs = costs(&machine, &keys, end);
        }
        Group::Memory => machine.bandwidth = bandwidth(&machine, end),
        Group::Locked => machine.costs = costs(&machine, &["locked"], end),
        Group::Refill => request.calls.refill = end_of(constants::REFILL, end),
        Group::Heap => request.calls.heap = end_of(constants::HEAP, end),
        Group::Collections => {
            let survivors = constants::SURVIVORS;
            request.survivors *= end_of(survivors, end) / survivors.value;
        }
    }
    (machine, request)
}

/// Varies everything; `candidate` over `stock`.
pub(super) fn sureness(
    machine: &Machine,
    request: &Request,
    [stock, candidate]: [&Candidate; 2],
    done: impl Fn(usize, usize) + Sync,
) -> io::Result<Sureness> {
    let mut cases = vec![(machine.clone(), request.clone())];
    for group in Group::ALL {
        for end in [End::Low, End::High] {
            cases.push(varied(machine, request, group, end));
        }
    }
    cases.extend(SEEDS.map(|seed| (machine.clone(), Request { seed, ..request.clone() })));
    let length = request.length(machine);
    let all = 2 * cases.len();
    let pairs: Vec<(&(Machine, Request), &Candidate)> =
        cases.iter().flat_map(|case| [(case, stock), (case, candidate)]).collect();
    let rate = |((machine, request), candidate): &(&(Machine, Request), &Candidate)| {
        let scenario = request.scenario(length, candidate.tlab, candidate.hierarchy());
        let objects = Steady::of(machine, &scenario)?.objects;
        Ok(net(objects, &collected(machine, request, candidate, objects)))
    };
    let rates = sweep::each(&pairs, |count| done(count, all), rate);
    let rates = rates.into_iter().collect::<io::Result<Vec<f64>>>()?;
    let ratios: Vec<f64> = rates.chunks(2).map(|pair| pair[1] / pair[0]).collect();
    let influence = |(number, group): (usize, Group)| Influence {
        parameter: group.name(),
        low: ratios[1 + 2 * number],
        high: ratios[2 + 2 * number],
    };
    let mut tornado: Vec<Influence> = Group::ALL.into_iter().enumerate().map(influence).collect();
    let seeds = &ratios[1 + 2 * Group::ALL.len()..];
    tornado.push(Influence { parameter: "seed", low: seeds[0].min(seeds[1]), high: seeds[0].max(seeds[1]) });
    tornado.sort_by(|one, other| {
        let width = |influence: &Influence| (influence.high - influence.low).abs();
        width(other).total_cmp(&width(one))
    });
    Ok(Sureness {
        low: ratios.iter().copied().fold(f64::INFINITY, f64::min),
        ratio: ratios[0],
        high: ratios.iter().copied().fold(0.0, f64::max),
        tornado,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_the_files_or_a_fifth() {
        let machine = Machine::named("epyc-9654-2x96").unwrap();
        let close = |one: f64, other: f64| (one - other).abs() < 1e-9;
        assert!(close(factor(&machine, "costs.transfer_cluster", End::Low), 19.7 / 22.6));
        assert!(close(factor(&machine, "costs.transfer_cluster", End::High), 29.4 / 22.6));
        assert!(close(factor(&machine, "costs.drain", End::Low), 0.8));
        assert!(close(factor(&machine, "costs.home_remote", End::High), 1.2));
        assert_eq!(bandwidth(&machine, End::High).channels, 415e9);
        let low = costs(&machine, &["locked"], End::Low);
        assert!(low.locked < machine.costs.locked && low.drain <= low.locked);
    }
}
