//! What is not known for sure, in groups that come from one source, and both ends of their ranges.

use super::Request;
use crate::constants::{self, Constant};
use crate::machine::{Bandwidth, Machine, Picoseconds, Unit};
use crate::programs::allocate::Collector;

/// Published to one value: this part of it either way.
const UNKNOWN: f64 = 0.2;

/// A group of numbers that are varied together, as they come from one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Transfers,
    Latencies,
    Memory,
    LastCache,
    Clock,
    Locked,
    Work,
    Siblings,
    Refill,
    Heap,
    G1,
    Survivors,
    Pauses,
}

impl Group {
    const ALL: [Group; 13] = [
        Group::Transfers,
        Group::Latencies,
        Group::Memory,
        Group::LastCache,
        Group::Clock,
        Group::Locked,
        Group::Work,
        Group::Siblings,
        Group::Refill,
        Group::Heap,
        Group::G1,
        Group::Survivors,
        Group::Pauses,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Group::Transfers => "line transfers",
            Group::Latencies => "latencies of L3 and memory",
            Group::Memory => "memory and links",
            Group::LastCache => "size of the L3",
            Group::Clock => "clock",
            Group::Locked => "locked instruction",
            Group::Work => "the program's work",
            Group::Siblings => "hardware threads",
            Group::Refill => "refill's call",
            Group::Heap => "heap's call",
            Group::G1 => "G1's own calls",
            Group::Survivors => "survivors",
            Group::Pauses => "pauses and copying",
        }
    }

    /// Those that make a difference to a request.
    pub(super) fn of(machine: &Machine, request: &Request) -> Vec<Group> {
        let matters = |group: &Group| match group {
            Group::Siblings => machine.shape.threads > 1 && request.threads > machine.shape.cores(),
            Group::G1 => matches!(request.collector, Collector::G1 { .. }),
            _ => true,
        };
        Group::ALL.into_iter().filter(matters).collect()
    }

    /// Whether it makes a difference only to what collections cost, which is arithmetic.
    pub(super) const fn collections(self) -> bool {
        matches!(self, Group::Survivors | Group::Pauses)
    }
}

/// An end of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Low,
    High,
}

impl End {
    pub(super) const BOTH: [End; 2] = [End::Low, End::High];
}

/// A figure's end over its value.
fn factor(machine: &Machine, key: &str, end: End) -> f64 {
    let given = machine.figure(key).map(|figure| match end {
        End::Low => figure.low.map(|low| low / figure.value),
        End::High => figure.high.map(|high| high / figure.value),
    });
    match (given.flatten(), end) {
        (Some(factor), _) => factor,
        (None, End::Low) => 1.0 - UNKNOWN,
        (None, End::High) => 1.0 + UNKNOWN,
    }
}

fn scale(cost: &mut Picoseconds, by: f64) {
    *cost = (*cost as f64 * by).round() as Picoseconds;
}

/// Costs with these keys at an end.
fn costs(machine: &mut Machine, keys: &[&str], end: End) {
    for key in keys {
        let by = factor(machine, &format!("costs.{key}"), end);
        let costs = &mut machine.costs;
        match *key {
            "l3" => scale(&mut costs.l3, by),
            "transfer_cluster" => scale(&mut costs.transfer_cluster, by),
            "transfer_package" => scale(&mut costs.transfer_package, by),
            "transfer_remote" => scale(&mut costs.transfer_remote, by),
            "memory_local" => scale(&mut costs.memory_local, by),
            "memory_remote" => scale(&mut costs.memory_remote, by),
            _ => scale(&mut costs.locked, by),
        }
    }
    order(machine);
}

/// What is farther takes no less, whatever their ranges are.
fn order(machine: &mut Machine) {
    let costs = &mut machine.costs;
    costs.home_remote = costs.home_remote.map(|home| home.max(costs.transfer_package));
    costs.memory_remote = costs.memory_remote.max(costs.memory_local);
    costs.drain = costs.drain.min(costs.locked);
}

/// Another clock: what takes cycles takes another time, and what takes nanoseconds does not.
fn clock(machine: &mut Machine, end: End) {
    let by = factor(machine, "clock", end);
    machine.clock_ghz *= by;
    let cycles =
        |key: &str| machine.figure(&format!("costs.{key}")).is_some_and(|figure| figure.unit == Unit::Cycles);
    let keys = ["l1", "l2", "l3", "sibling", "transfer_cluster", "locked", "drain", "store"];
    let [l1, l2, l3, sibling, transfer, locked, drain, store] = keys.map(cycles);
    let costs = &mut machine.costs;
    for (counted, cost) in [
        (l1, &mut costs.l1),
        (l2, &mut costs.l2),
        (l3, &mut costs.l3),
        (sibling, &mut costs.sibling),
        (transfer, &mut costs.transfer_cluster),
        (locked, &mut costs.locked),
        (drain, &mut costs.drain),
        (store, &mut costs.store),
    ] {
        if counted {
            scale(cost, 1.0 / by);
        }
    }
    order(machine);
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

/// Puts one group at an end of its range.
pub(super) fn vary(machine: &mut Machine, request: &mut Request, group: Group, end: End) {
    let calls = &mut request.calls;
    match group {
        Group::Transfers => {
            costs(machine, &["transfer_cluster", "transfer_package", "transfer_remote"], end);
        }
        Group::Latencies => costs(machine, &["l3", "memory_local", "memory_remote"], end),
        Group::Memory => machine.bandwidth = bandwidth(machine, end),
        Group::LastCache => machine.bandwidth.last_cache *= factor(machine, "memory.last_cache", end),
        Group::Clock => clock(machine, end),
        Group::Locked => costs(machine, &["locked"], end),
        Group::Work => machine.costs.work_scale *= factor(machine, "costs.work_scale", end),
        Group::Siblings => {
            let by = factor(machine, "costs.sibling_work", end);
            // Two threads of a core are never slower than one after the other, and never faster than alone.
            let most = f64::from(machine.shape.threads);
            machine.costs.sibling_work = (machine.costs.sibling_work * by).clamp(1.0, most);
        }
        Group::Refill => calls.refill = end_of(constants::REFILL, end),
        Group::Heap => calls.heap.request = end_of(constants::HEAP, end),
        Group::G1 => {
            calls.heap.g1 = end_of(constants::G1_REQUEST, end);
            calls.heap.region = end_of(constants::G1_REGION, end);
        }
        Group::Survivors => {
            let survivors = constants::SURVIVORS;
            request.survivors *= end_of(survivors, end) / survivors.value;
        }
        Group::Pauses => {
            request.pauses.fixed = end_of(constants::PAUSE, end);
            request.pauses.thread = end_of(constants::PAUSE_THREAD, end);
            // Short pauses copy fast.
            request.pauses.copy = end_of(constants::COPY, if end == End::Low { End::High } else { End::Low });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-3
    }

    #[test]
    fn ends_are_the_files_or_a_fifth() {
        let machine = Machine::named("epyc-9654-2x96").unwrap();
        assert!(close(factor(&machine, "costs.transfer_cluster", End::Low), 19.7 / 22.6));
        assert!(close(factor(&machine, "costs.transfer_cluster", End::High), 29.4 / 22.6));
        assert!(close(factor(&machine, "costs.drain", End::Low), 0.8));
        assert!(close(factor(&machine, "costs.home_remote", End::High), 1.2));
        assert_eq!(bandwidth(&machine, End::High).channels, 415e9);
        let mut low = machine.clone();
        costs(&mut low, &["locked"], End::Low);
        assert!(low.costs.locked < machine.costs.locked && low.costs.drain <= low.costs.locked);
    }

    #[test]
    fn another_clock_changes_what_takes_cycles_and_nothing_else() {
        let machine = Machine::named("epyc-9654-2x96").unwrap();
        let mut slow = machine.clone();
        clock(&mut slow, End::Low);
        let by = 2.4 / 3.55;
        assert!(close(slow.clock_ghz, 2.4));
        assert!(close(slow.costs.l3 as f64 * by / machine.costs.l3 as f64, 1.0));
        assert!(close(slow.costs.locked as f64 * by / machine.costs.locked as f64, 1.0));
        assert_eq!(slow.costs.transfer_cluster, machine.costs.transfer_cluster);
        assert_eq!(slow.costs.memory_local, machine.costs.memory_local);
    }

    #[test]
    fn every_group_changes_something_where_it_matters() {
        let machine = Machine::named("paper-4x10x2").unwrap();
        let request = super::super::tests::request(80, 1 << 30);
        let g1 =
            Request { collector: Collector::G1 { region: 1 << 20, numa: false }, survivors: 0.02, ..request };
        assert_eq!(Group::of(&machine, &g1), Group::ALL);
        for group in Group::ALL {
            let changes = |end| {
                let (mut other, mut asked) = (machine.clone(), g1.clone());
                vary(&mut other, &mut asked, group, end);
                other != machine || format!("{asked:?}") != format!("{g1:?}")
            };
            assert!(End::BOTH.into_iter().any(changes), "{group:?}");
        }
    }
}
