//! Small programs on small machines, from numbers: shared by the property tests and the fuzz target.

pub mod machine;
pub mod operations;
pub mod traffic;

use hab::Counter;
use terrace_coherence::machine::Machine;
use terrace_coherence::programs::Options;
use terrace_coherence::programs::allocate::{
    self, Allocated, Allocation, Collector, Domain, Hierarchy, Mutator, Rank, Tlab, UsedUp,
};
use terrace_coherence::programs::counters::{self, Increment, Layout};

/// A machine, what is done on it with which options, and the operations if it is those.
pub type Numbers = (machine::Numbers, [u16; 10], Vec<operations::Operation>);

const EVENTS: usize = 1000;

/// Runs a program. Panics where a rule is broken.
pub fn run((machine, options, operations): &Numbers) {
    let machine = machine::of(machine);
    let [kind, threads, seed, length, ..] = *options;
    let (threads, pinned) = (1 + u32::from(threads) % 24, kind & 0x100 != 0);
    let options_of =
        Options { threads, pinned, seed: u64::from(seed), length: u64::from(length) * 500, events: EVENTS };
    match kind % 4 {
        0 => operations::run(&machine, operations, threads, pinned, u64::from(seed)),
        1 => increment(&machine, options[4], &options_of),
        _ => allocate(&machine, &options[4..], &options_of),
    }
}

fn increment(machine: &Machine, kind: u16, options: &Options) {
    let kind = [Increment::Add, Increment::ExchangeAdd, Increment::CompareExchange][usize::from(kind) % 3];
    let run = counters::run(machine, kind, Layout::Shared, options).expect("there is memory for the stacks");
    assert!(run.length >= options.length || options.length == 0);
    let total = run.outcome.traffic.total();
    assert_eq!(total.lost, run.lost);
    assert!(run.operations == 0 || total.hits + total.moves() > 0);
    traffic::check(&run.outcome.traffic, EVENTS);
}

fn allocate(machine: &Machine, numbers: &[u16], options: &Options) {
    let [kind, tlab, size, eden, object, pause] = *numbers else { panic!("six numbers") };
    let rank = |domain, factor| Rank { domain, bytes: usize::from(size) * factor };
    let hierarchy = match kind % 6 {
        0 => Hierarchy::None,
        1 => Hierarchy::Levels(vec![rank(Domain::Core, 1)]),
        2 => Hierarchy::Levels(vec![rank(Domain::Cluster, 1), rank(Domain::Package, 3)]),
        3 => {
            Hierarchy::Levels(vec![rank(Domain::Core, 1), rank(Domain::Cluster, 2), rank(Domain::Package, 5)])
        }
        4 => Hierarchy::Paper(rank(Domain::Core, 1), UsedUp::NextBuffer),
        _ => Hierarchy::Paper(rank(Domain::Package, 2), UsedUp::Collect),
    };
    let tlab = match tlab % 3 {
        0 => Tlab::None,
        1 => Tlab::Growing,
        _ => Tlab::Bytes(usize::from(tlab)),
    };
    let allocation = Allocation {
        tlab,
        hierarchy,
        // Room for something, so that a run is not one of collections only.
        eden: 4096 + usize::from(eden) * 4,
        collector: Collector::Parallel,
        mutator: Mutator {
            sizes: vec![(u32::from(object) % 3000, 1.0), (24, 4.0)],
            ..Mutator::constant(0, f64::from(object % 50), 0.1)
        },
        refill_cycles: 20.0,
        heap_cycles: 10.0.into(),
        pause: u64::from(pause) * 100,
    };
    let allocated = allocate::run(machine, &allocation, options).expect("there is memory for the stacks");
    check(machine, &allocated, &allocation, options);
}

/// What holds of any allocation.
pub fn check(machine: &Machine, allocated: &Allocated, allocation: &Allocation, options: &Options) {
    traffic::check(&allocated.run.outcome.traffic, options.events);
    assert!(allocated.bytes <= (allocated.collections + 1) * allocation.eden as u64);
    assert!(allocated.run.length >= allocated.collections * allocation.pause);
    assert!(!options.pinned || allocated.run.outcome.migrations == 0);
    let sum = |level: usize, counters: &[Counter]| -> u64 {
        counters.iter().map(|&counter| allocated.levels[level].get(counter)).sum()
    };
    if !matches!(allocation.hierarchy, Hierarchy::Levels(_)) {
        return;
    }
    for (number, level) in allocated.levels.iter().enumerate() {
        let served = sum(number, &[Counter::BufferBytes, Counter::ObjectBytes, Counter::StolenBytes]);
        let waste = sum(number, &[Counter::WasteRefill, Counter::WasteCollection, Counter::WasteAlignment]);
        let reserved = sum(number, &[Counter::RefillBytes]);
        let balance = served + waste + level.remaining;
        // Counts of a domain with one CPU are plain additions: one is lost where a thread loses its CPU within one.
        let exact = options.pinned && options.threads <= machine.shape.cpus();
        assert!(balance == reserved || balance < reserved && !exact, "{balance} of {reserved}: {level:?}");
    }
}
