//! All programs on shipped machines with each protocol, with the checks of debug builds: threads that share CPUs, move, and hardly ever
//! keep their CPU for long.

#[allow(dead_code, reason = "the interpreter is the property tests'")]
mod program;

use program::traffic;
use terrace_coherence::machine::{Machine, Protocol};
use terrace_coherence::programs::Options;
use terrace_coherence::programs::allocate::{
    self, Allocation, Collector, Domain, Hierarchy, Mutator, Rank, Tlab, UsedUp,
};
use terrace_coherence::programs::counters::{self, Increment, Layout};

const EVENTS: usize = 5000;

/// Each machine as it is, and with a scheduler that never leaves anybody alone.
fn machines() -> Vec<Machine> {
    let mut machines = Vec::new();
    for name in ["paper-4x10x2", "thompson-nehalem", "two-vcpu-epyc", "epyc-9654-2x96"] {
        for protocol in [Protocol::Mesi, Protocol::Mesif, Protocol::Moesi] {
            let mut machine = Machine { protocol, ..Machine::named(name).expect("it is shipped") };
            machines.push(machine.clone());
            machine.costs.quantum = 300_000;
            machine.costs.switch = 100_000;
            machine.costs.migration_rate = 1e6;
            machines.push(machine);
        }
    }
    machines
}

/// More threads than CPUs where that is not too many.
fn options(machine: &Machine, pinned: bool) -> Options {
    let threads = (machine.shape.cpus() + 3).min(100);
    Options { threads, pinned, seed: 9, length: 10_000_000, events: EVENTS }
}

#[test]
fn counters_keep_the_rules() {
    for machine in &machines() {
        for (increment, pinned) in [
            (Increment::Add, true),
            (Increment::ExchangeAdd, false),
            (Increment::CompareExchange, false),
            (Increment::Plain, false),
        ] {
            let options = options(machine, pinned);
            let run = counters::run(machine, increment, Layout::Shared, &options).unwrap();
            assert!(run.operations > 0 && run.length >= options.length);
            assert!(!pinned || run.outcome.migrations == 0);
            traffic::check(&run.outcome.traffic, EVENTS);
        }
    }
}

#[test]
fn allocation_keeps_the_rules() {
    let rank = |domain, bytes| Rank { domain, bytes };
    let programs = [
        (Tlab::None, Hierarchy::None),
        (Tlab::None, Hierarchy::Levels(vec![rank(Domain::Core, 8 << 10)])),
        (Tlab::Bytes(2 << 10), Hierarchy::Paper(rank(Domain::Package, 32 << 10), UsedUp::Collect)),
        (
            Tlab::Bytes(1 << 10),
            Hierarchy::Levels(vec![
                rank(Domain::Core, 4 << 10),
                rank(Domain::Cluster, 16 << 10),
                rank(Domain::Package, 64 << 10),
            ]),
        ),
    ];
    for (number, machine) in machines().iter().enumerate() {
        let pinned = number % 3 == 0;
        for (tlab, hierarchy) in programs.clone() {
            let allocation = Allocation {
                tlab,
                hierarchy,
                eden: 512 << 10,
                collector: Collector::Parallel,
                mutator: Mutator::constant(48, 20.0, 0.1),
                refill_cycles: 60.0,
                heap_cycles: 30.0.into(),
                pause: 200_000,
            };
            let options = options(machine, pinned);
            let allocated = allocate::run(machine, &allocation, &options).unwrap();
            assert!(allocated.run.operations > 0);
            program::check(machine, &allocated, &allocation, &options);
        }
    }
}
