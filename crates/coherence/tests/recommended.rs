//! What is recommended on shipped machines, and why: nobody changes a machine file or the model without seeing what that does to the
//! advice.

use terrace_coherence::machine::{Machine, shipped};
use terrace_coherence::plan::{Chain, Pauses, Request, Survivors, plan};
use terrace_coherence::programs::allocate::Collector;
use terrace_coherence::scenario::{Bound, Calls, DEFAULT_OBJECT, DEFAULT_WORK, Program};

/// Machine, threads, and megabytes of eden; what is recommended, its bound, and what the advice depends on most.
type Case = (&'static str, u32, usize, Chain, &'static str, Bound, &'static str);

const SMALL: [Case; 6] = [
    ("thompson-nehalem", 8, 256, Chain::Heap, "growing", Bound::Memory, "survivors"),
    ("thompson-sandy-bridge", 8, 256, Chain::Heap, "growing", Bound::Memory, "memory and links"),
    ("opsian-haswell", 8, 256, Chain::Heap, "growing", Bound::Memory, "survivors"),
    ("downs-skylake", 8, 256, Chain::Heap, "growing", Bound::Memory, "memory and links"),
    ("downs-ice-lake", 8, 256, Chain::Heap, "growing", Bound::Memory, "clock"),
    ("two-vcpu-epyc", 2, 256, Chain::Heap, "growing", Bound::Work, "line transfers"),
];
const LARGE: [Case; 3] = [
    ("xeon-8375c-2x32x2", 128, 256, Chain::CoreL3, "2k", Bound::Link, "line transfers"),
    ("xeon-8480-2x56x2", 224, 256, Chain::CoreL3, "4k", Bound::Link, "pauses and copying"),
    ("epyc-9654-2x96", 192, 8192, Chain::Heap, "growing", Bound::Memory, "line transfers"),
];

const AARCH64: [Case; 3] = [
    ("graviton2-64", 64, 256, Chain::Heap, "growing", Bound::Memory, "pauses and copying"),
    ("graviton3-64", 64, 256, Chain::Heap, "growing", Bound::Memory, "line transfers"),
    ("ampere-altra-80", 80, 256, Chain::Heap, "growing", Bound::Memory, "memory and links"),
];
/// Their crowded cases take minutes: these are the ones that each run of the tests can afford.
const LARGE_EDENS: [Case; 2] = [
    ("paper-4x10x2", 80, 8192, Chain::Heap, "growing", Bound::Work, "the program's work"),
    ("epyc-9754-2x128x2", 128, 8192, Chain::Heap, "growing", Bound::Cluster, "memory and links"),
];
/// With much contention, and long to simulate.
const CROWDED: [Case; 3] = [
    ("paper-4x10x2", 80, 256, Chain::Heap, "growing", Bound::Work, "the program's work"),
    ("epyc-9654-2x96", 192, 256, Chain::L3, "16k", Bound::Work, "pauses and copying"),
    ("epyc-9754-2x128x2", 512, 256, Chain::L3, "16k", Bound::Heap, "pauses and copying"),
];

fn check(cases: &[Case]) {
    let mut changed = Vec::new();
    for &(name, threads, eden, chain, tlab, bound, decides) in cases {
        let machine = Machine::named(name).unwrap();
        let request = Request {
            program: Program::Allocate,
            object: DEFAULT_OBJECT,
            work: DEFAULT_WORK,
            threads,
            eden: eden << 20,
            collector: Collector::Parallel,
            survivors: Survivors::default(),
            pauses: Pauses::default(),
            calls: Calls::default(),
            pinned: true,
            seed: 1,
            length: None,
        };
        let plan = plan(&machine, &request, |_, _| ()).unwrap();
        let row = &plan.recommended;
        let limit = row.limit.unwrap_or_else(|| panic!("{name}: nothing bounds it"));
        let sure = plan.sure.as_ref().unwrap_or_else(|| panic!("{name}: nothing else is as good"));
        let found = (row.chain, row.tlab.as_str(), limit.bound, sure.tornado[0].parameter);
        if found != (chain, tlab, bound, decides) {
            changed.push(format!("{name}, {threads} threads: {found:?}"));
        }
        // What is best and does not win over the whole range is not recommended.
        assert_eq!(sure.wins(), row.tlab != "growing", "{name}: {sure:?}");
        assert_eq!(*row == plan.best, sure.wins(), "{name}");
    }
    assert!(changed.is_empty(), "found now:\n{}", changed.join("\n"));
}

#[test]
fn small_machines_need_nothing() {
    check(&SMALL);
}

#[test]
fn large_ones_need_buffers_where_edens_are_small_and_nothing_where_memory_decides() {
    check(&LARGE);
}

#[test]
fn packages_with_one_memory_are_bound_by_it() {
    check(&AARCH64);
}

#[test]
fn many_cpus_need_nothing_where_edens_are_large() {
    check(&LARGE_EDENS);
}

#[test]
fn every_shipped_machine_is_here() {
    let mut named: Vec<&str> =
        [&SMALL[..], &LARGE, &AARCH64, &LARGE_EDENS].concat().into_iter().map(|case| case.0).collect();
    named.sort_unstable();
    // A machine may be there twice, crowded and not.
    named.dedup();
    let mut shipped: Vec<&str> = shipped().iter().map(|(name, _)| *name).collect();
    shipped.sort_unstable();
    assert_eq!(named, shipped);
}

#[test]
#[ignore = "minutes of CPU time"]
fn where_many_contend_it_depends_on_what_a_refill_costs() {
    check(&CROWDED);
}
