//! What is not known for sure, in groups that come from one source, and both ends of their ranges.
//!
//! The plan and the evaluation vary the same groups in the same way; what only one of them has is there.

use crate::constants::{self, Constant};
use crate::machine::{Bandwidth, Costs, Figure, Machine, Picoseconds, Unit};
use crate::programs::counters;
use crate::scenario::Calls;

/// Published to one value: this part of it either way.
const UNKNOWN: f64 = 0.2;

/// A group of numbers that are varied together, as they come from one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Transfers,
    Latencies,
    Memory,
    LastCache,
    Clock,
    Locked,
    Drain,
    Work,
    Siblings,
    Refill,
    Heap,
    G1,
    Survivors,
    Pauses,
    FirstCache,
    Streaks,
    Loop,
    AfterLock,
}

impl Group {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Group::Transfers => "line transfers",
            Group::Latencies => "latencies of L3 and memory",
            Group::Memory => "memory and links",
            Group::LastCache => "size of the L3",
            Group::Clock => "clock",
            Group::Locked => "locked instruction",
            Group::Drain => "drain of the store buffer",
            Group::Work => "the program's work",
            Group::Siblings => "hardware threads",
            Group::Refill => "refill's call",
            Group::Heap => "heap's call",
            Group::G1 => "G1's own calls",
            Group::Survivors => "survivors",
            Group::Pauses => "pauses and copying",
            Group::FirstCache => "first caches and stores",
            Group::Streaks => "how long a core keeps a line",
            Group::Loop => "the loop around an increment",
            Group::AfterLock => "a load after a locked instruction",
        }
    }
}

/// An end of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Low,
    High,
}

impl End {
    pub(crate) const BOTH: [End; 2] = [End::Low, End::High];

    pub(crate) const fn other(self) -> End {
        match self {
            End::Low => End::High,
            End::High => End::Low,
        }
    }
}

/// The end over the value of what is known to one value.
pub(crate) const fn unknown(end: End) -> f64 {
    match end {
        End::Low => 1.0 - UNKNOWN,
        End::High => 1.0 + UNKNOWN,
    }
}

/// A figure's end over its value.
fn factor(machine: &Machine, key: &str, end: End) -> f64 {
    let given = machine.figure(key).and_then(|figure| Some(given(figure, end)? / figure.value));
    given.unwrap_or(unknown(end))
}

/// A figure's end, in its unit, where its file has one.
const fn given(figure: &Figure, end: End) -> Option<f64> {
    match end {
        End::Low => figure.low,
        End::High => figure.high,
    }
}

/// The end of a time that is nothing otherwise, which no factor makes longer.
fn beside_nothing(machine: &Machine, key: &str, end: End) -> Option<Picoseconds> {
    let figure = machine.figure(key).filter(|figure| figure.value == 0.0)?;
    given(figure, end).map(|value| machine.picoseconds(value, figure))
}

fn scale(cost: &mut Picoseconds, by: f64) {
    *cost = (*cost as f64 * by).round() as Picoseconds;
}

/// The keys of all costs that are times.
const TIMES: [&str; 15] = [
    "l1",
    "l2",
    "l3",
    "sibling",
    "transfer_cluster",
    "transfer_package",
    "transfer_remote",
    "home_remote",
    "memory_local",
    "memory_remote",
    "locked",
    "drain",
    "store",
    "residency",
    "streak",
];

/// The cost with this key; `None` where the machine has none.
fn cost<'a>(costs: &'a mut Costs, key: &str) -> Option<&'a mut Picoseconds> {
    Some(match key {
        "l1" => &mut costs.l1,
        "l2" => &mut costs.l2,
        "l3" => &mut costs.l3,
        "sibling" => &mut costs.sibling,
        "transfer_cluster" => &mut costs.transfer_cluster,
        "transfer_package" => &mut costs.transfer_package,
        "transfer_remote" => &mut costs.transfer_remote,
        "home_remote" => return costs.home_remote.as_mut(),
        "memory_local" => &mut costs.memory_local,
        "memory_remote" => &mut costs.memory_remote,
        "locked" => &mut costs.locked,
        "drain" => &mut costs.drain,
        "store" => &mut costs.store,
        "residency" => &mut costs.residency,
        "streak" => &mut costs.streak,
        _ => return None,
    })
}

/// Costs with these keys at an end.
fn costs(machine: &mut Machine, keys: &[&str], end: End) {
    for key in keys {
        let full = format!("costs.{key}");
        let (by, time) = (factor(machine, &full, end), beside_nothing(machine, &full, end));
        if let Some(cost) = cost(&mut machine.costs, key) {
            match time {
                Some(time) => *cost = time,
                None => scale(cost, by),
            }
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
    for key in TIMES {
        let figure = machine.figure(&format!("costs.{key}"));
        let counted = figure.is_some_and(|figure| figure.unit == Unit::Cycles);
        if let Some(cost) = cost(&mut machine.costs, key).filter(|_| counted) {
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
        // Much traffic leaves as little as slow memory does; each new byte is on the way at least once.
        traffic: (traffic * factor(machine, "memory.traffic", end.other())).max(traffic.min(1.0)),
        last_cache,
    }
}

pub(crate) const fn end_of(constant: Constant, end: End) -> f64 {
    match end {
        End::Low => constant.range.0,
        End::High => constant.range.1,
    }
}

/// Puts what a machine's file has of a group at an end of its range; other groups change nothing.
pub(crate) fn vary_machine(machine: &mut Machine, group: Group, end: End) {
    match group {
        Group::Transfers => {
            costs(machine, &["transfer_cluster", "transfer_package", "transfer_remote", "home_remote"], end);
        }
        Group::Latencies => costs(machine, &["l3", "memory_local", "memory_remote"], end),
        Group::Memory => machine.bandwidth = bandwidth(machine, end),
        Group::LastCache => machine.bandwidth.last_cache *= factor(machine, "memory.last_cache", end),
        Group::Clock => clock(machine, end),
        Group::Locked => costs(machine, &["locked"], end),
        // Apart from the instruction that it is a part of: a line is kept for what is left of that.
        Group::Drain => costs(machine, &["drain"], end),
        Group::Work => machine.costs.work_scale *= factor(machine, "costs.work_scale", end),
        Group::Siblings => {
            let by = factor(machine, "costs.sibling_work", end);
            // Two threads of a core are never slower than one after the other, and never faster than alone.
            let most = f64::from(machine.shape.threads);
            machine.costs.sibling_work = (machine.costs.sibling_work * by).clamp(1.0, most);
        }
        Group::FirstCache => costs(machine, &["l1", "l2", "sibling", "store"], end),
        Group::Streaks => costs(machine, &["residency", "streak"], end),
        Group::Refill
        | Group::Heap
        | Group::G1
        | Group::Survivors
        | Group::Pauses
        | Group::Loop
        | Group::AfterLock => {}
    }
}

/// Puts what calls take at an end of its range; other groups change nothing.
pub(crate) const fn vary_calls(calls: &mut Calls, group: Group, end: End) {
    match group {
        Group::Refill => calls.refill = end_of(constants::REFILL, end),
        Group::Work => calls.byte = end_of(constants::BYTE, end),
        Group::Heap => calls.heap.request = end_of(constants::HEAP, end),
        Group::G1 => {
            calls.heap.g1 = end_of(constants::G1_REQUEST, end);
            calls.heap.region = end_of(constants::G1_REGION, end);
        }
        _ => {}
    }
}

/// Puts what an increment takes besides its accesses at an end of its range; other groups change nothing.
pub(crate) const fn vary_increment(cycles: &mut counters::Cycles, group: Group, end: End) {
    match group {
        Group::Loop => cycles.around = end_of(constants::LOOP, end),
        Group::AfterLock => cycles.after_lock = end_of(constants::AFTER_LOCK, end),
        _ => {}
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
        vary_machine(&mut low, Group::Locked, End::Low);
        assert!(low.costs.locked < machine.costs.locked && low.costs.drain <= low.costs.locked);
        let mut drained = machine.clone();
        vary_machine(&mut drained, Group::Drain, End::Low);
        assert!(drained.costs.drain < machine.costs.drain && drained.costs.locked == machine.costs.locked);
        let mut high = machine.clone();
        vary_machine(&mut high, Group::Transfers, End::High);
        assert!(high.costs.home_remote > machine.costs.home_remote);
        let traffic = |end| bandwidth(&machine, end).traffic;
        assert!(close(traffic(End::Low), 2.4) && close(traffic(End::High), 1.6));
        let past_the_caches = Bandwidth { traffic: 1.0, ..machine.bandwidth };
        let past_the_caches = Machine { bandwidth: past_the_caches, ..machine.clone() };
        assert!(close(bandwidth(&past_the_caches, End::High).traffic, 1.0));
        let mut calls = Calls::default();
        vary_calls(&mut calls, Group::Work, End::High);
        assert_eq!((calls.byte, calls.refill), (constants::BYTE.range.1, constants::REFILL.value));
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
    fn every_cost_in_cycles_takes_another_time_at_another_clock() {
        let text = include_str!("../machines/epyc-9654-2x96.toml");
        let in_cycles: String = text
            .lines()
            .map(|line| match line.split_once(" = { value") {
                Some((key, _)) if TIMES.contains(&key) => line.replace("\"ns\"", "\"cycles\"") + "\n",
                _ => format!("{line}\n"),
            })
            .collect();
        let machine = Machine::parse(&in_cycles, "cycles").unwrap();
        let mut slow = machine.clone();
        clock(&mut slow, End::Low);
        let by = machine.clock_ghz / slow.clock_ghz;
        let (mut before, mut after) = (machine.costs, slow.costs);
        for key in TIMES {
            let [before, after] =
                [&mut before, &mut after].map(|costs| cost(costs, key).map(|cost| *cost as f64));
            let (Some(before), Some(after)) = (before, after) else { panic!("{key}") };
            assert!((after - before * by).abs() <= 1.0, "{key}: {before}, {after}");
        }
    }

    #[test]
    fn a_group_changes_what_it_names_and_nothing_else() {
        let nehalem = Machine::named("thompson-nehalem").unwrap();
        let at = |group, end| {
            let mut machine = nehalem.clone();
            vary_machine(&mut machine, group, end);
            machine.costs
        };
        // No range in the file: a fifth either way.
        assert_eq!(at(Group::Streaks, End::High).streak, 48_000);
        assert_eq!(at(Group::Streaks, End::High).residency, 0);
        // Nothing, or up to so much.
        let mut perhaps = nehalem.clone();
        let figure = perhaps.figures.iter_mut().find(|figure| figure.key == "costs.residency").unwrap();
        (figure.value, figure.unit, figure.high) = (0.0, Unit::Nanoseconds, Some(50.0));
        vary_machine(&mut perhaps, Group::Streaks, End::High);
        assert_eq!(perhaps.costs.residency, 50_000);
        assert_eq!(at(Group::FirstCache, End::Low).locked, nehalem.costs.locked);
        assert!(close(at(Group::FirstCache, End::Low).l1 as f64 / nehalem.costs.l1 as f64, 0.8));
        // What the file does not have is not changed.
        assert_eq!(at(Group::Loop, End::High), nehalem.costs);
        let mut cycles = counters::Cycles::default();
        vary_increment(&mut cycles, Group::Loop, End::High);
        assert_eq!((cycles.around, cycles.after_lock), (2.0, constants::AFTER_LOCK.value));
        vary_increment(&mut cycles, Group::AfterLock, End::Low);
        assert_eq!(cycles.after_lock, 4.0);
    }
}
