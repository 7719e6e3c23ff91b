//! The source of `crates/hab` over simulated memory does what it does over the processor's, and keeps its accounts there too.

mod hierarchy;
mod script;
#[path = "../support/mod.rs"]
mod support;

use hab::Counter;
use hab::atomics::Processor;
use hierarchy::{Account, Hierarchy, tables};
use proptest::prelude::*;
use script::{Rank, Request, Script};
use std::cell::RefCell;
use support::machine;
use terrace_coherence::machine::Machine;
use terrace_coherence::programs::allocate::Domain;
use terrace_coherence::simulation::{self, Simulation, lock_step, random, work};
use terrace_coherence::watched::Watched;

type Served = Vec<Option<(usize, usize)>>;

fn on_the_processor(script: &Script) -> (Served, Account) {
    let tables = tables::<Processor>(&script.ranks);
    let hierarchy = Hierarchy::new(&script.ranks, &tables, script.heap, || {});
    let served = script.requests.iter().map(|&request| hierarchy.serve(request)).collect();
    (served, hierarchy.account())
}

fn in_a_simulation(machine: &Machine, script: &Script) -> (Served, Account) {
    let tables = tables::<Watched>(&script.ranks);
    let hierarchy = Hierarchy::new(&script.ranks, &tables, script.heap, || work(1000));
    let served = RefCell::new(Vec::new());
    let mut simulation = Simulation::new(machine, 1, 0, 0);
    let body = || served.borrow_mut().extend(script.requests.iter().map(|&request| hierarchy.serve(request)));
    simulation.spawn(0, true, body).unwrap();
    let outcome = simulation.run();
    assert!(outcome.traffic.total().moves() > 0, "it was the simulated memory");
    (served.take(), hierarchy.account())
}

const SERVED: [usize; 3] =
    [Counter::BufferBytes as usize, Counter::ObjectBytes as usize, Counter::StolenBytes as usize];
const WASTE: [usize; 3] =
    [Counter::WasteRefill as usize, Counter::WasteCollection as usize, Counter::WasteAlignment as usize];
const RESERVED: usize = Counter::RefillBytes as usize;
const DIRECT: usize = Counter::DirectBytes as usize;

/// The equations of `crates/hab/src/counters.rs`, when nobody is at work. `handed_out` by the lowest level.
fn balances(account: &Account, handed_out: u64) {
    let mut below = handed_out;
    for level in &account.levels {
        assert_eq!(level.sum(&[RESERVED]), level.sum(&SERVED) + level.sum(&WASTE) + level.remaining());
        assert_eq!(below, level.sum(&SERVED) + level.sum(&[DIRECT]));
        below = level.sum(&[RESERVED, DIRECT]);
    }
    assert_eq!(below, account.heap.0, "what the highest level got is what the heap gave");
    assert_eq!(account.heap.1, account.levels.iter().map(|level| level.sum(&WASTE)).sum::<u64>());
}

/// No byte is in two places.
fn apart(mut extents: Vec<(usize, usize)>) {
    extents.sort_unstable();
    for pair in extents.windows(2) {
        assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:?} overlap");
    }
}

fn bytes(extents: &[(usize, usize)]) -> u64 {
    extents.iter().map(|(_, bytes)| *bytes as u64).sum()
}

#[test]
fn a_script_by_hand() {
    let machine = machine([2, 2, 2, 2], "moesi", "");
    let ranks = vec![
        Rank::new(&machine, Domain::Core, 4096),
        Rank::new(&machine, Domain::Cluster, 8192),
        Rank::new(&machine, Domain::Package, 32768),
    ];
    let mut requests = Vec::new();
    for round in 0..40 {
        for cpu in [0, 1, 5, 15] {
            requests.push(Request::Buffer { cpu, min: 64 + 8 * round, desired: 1024 });
            requests.push(Request::Object { cpu, bytes: 40 });
            requests.push(Request::Buffer { cpu, min: 64, desired: 2056 + 8 * round });
        }
        if round % 10 == 9 {
            requests.push(Request::Retire { level: round % 3 });
        }
    }
    let script = Script { ranks, heap: 160_000, requests };
    let (served, account) = on_the_processor(&script);
    for counter in [Counter::Buffers, Counter::Refills, Counter::Stolen, Counter::Direct] {
        assert!(account.levels[0].sum(&[counter as usize]) > 0, "the script comes to {}", counter.name());
    }
    assert!(account.levels.iter().any(|level| level.sum(&WASTE) > 0) && served.contains(&None));
    assert_eq!(in_a_simulation(&machine, &script), (served, account));
}

/// Many threads, each with requests of its own until the heap is used up; all that was served.
fn many(
    machine: &Machine,
    ranks: &[Rank],
    heap: usize,
    threads: u32,
    seed: u64,
) -> (Vec<(usize, usize)>, Account) {
    let tables = tables::<Watched>(ranks);
    // The heap takes its time, and others come meanwhile: they see a buffer being refilled.
    let at_work = || {
        work(500_000);
        lock_step();
    };
    let hierarchy = Hierarchy::new(ranks, &tables, heap, at_work);
    let served = RefCell::new(Vec::new());
    let mut simulation = Simulation::new(machine, seed, 0, 0);
    for thread in 0..threads {
        let body = || {
            for _ in 0..60 {
                let cpu = simulation::cpu();
                let min = 8 + (random() % 64) as usize * 8;
                let request = match random() % 16 {
                    0 => Request::Object { cpu, bytes: min },
                    1 => Request::Tails { cpu, bytes: min },
                    _ => Request::Buffer { cpu, min, desired: min + (random() % 64) as usize * 8 },
                };
                let got = hierarchy.serve(request);
                served.borrow_mut().extend(got);
                work(random() % 200_000);
            }
        };
        simulation.spawn(thread, true, body).unwrap();
    }
    simulation.run();
    (served.into_inner(), hierarchy.account())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn on_either_kind_of_atomics_it_does_the_same(script in script::scripts(&machine([2, 2, 2, 2], "moesi", ""))) {
        let machine = machine([2, 2, 2, 2], "moesi", "");
        let (served, account) = on_the_processor(&script);
        prop_assert_eq!(&in_a_simulation(&machine, &script), &(served.clone(), account.clone()));
        // Neither moved nor asked: those are no bytes.
        let gave = |(request, served): (&Request, &Option<(usize, usize)>)| {
            served.filter(|_| !matches!(request, Request::Available { .. }))
        };
        let mut extents: Vec<_> = script.requests.iter().zip(&served).filter_map(gave).collect();
        balances(&account, bytes(&extents));
        extents.extend(account.levels.iter().flat_map(|level| level.rests.iter().copied()));
        apart(extents);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_is_accounted_for_with_many_threads(
        shape in (1..3_u32, 1..3_u32, 1..4_u32, 1..3_u32),
        protocol in prop_oneof![Just("mesi"), Just("mesif"), Just("moesi")],
        ranks in 0..3_usize,
        sizes in (1024..8192_usize, 1..5_usize),
        heap in 20_000..1_000_000_usize,
        seed: u64,
    ) {
        let (packages, clusters, cores, threads) = shape;
        let machine = machine([packages, clusters, cores, threads], protocol, "");
        let domains: &[Domain] = [
            &[Domain::Cluster][..],
            &[Domain::Core, Domain::Package],
            &[Domain::Core, Domain::Cluster, Domain::Package],
        ][ranks];
        let rank = |(level, domain): (usize, &Domain)| {
            Rank::new(&machine, *domain, sizes.0 * sizes.1.pow(level as u32))
        };
        let ranks: Vec<Rank> = domains.iter().enumerate().map(rank).collect();
        let (mut served, account) = many(&machine, &ranks, heap, machine.shape.cpus(), seed);
        balances(&account, bytes(&served));
        served.extend(account.levels.iter().flat_map(|level| level.rests.iter().copied()));
        apart(served);
    }
}
