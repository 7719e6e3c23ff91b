//! Programs whose eden is used up again and again: everybody stops, everybody goes on, and what was handed out is what was counted.

mod support;

use hab::Counter;
use support::{machine, number};
use terrace_coherence::programs::Options;
use terrace_coherence::programs::allocate::{
    Allocated, Allocation, Collector, Domain, Hierarchy, Mutator, Rank, Tlab, UsedUp, run,
};

const MICROSECOND: u64 = 1_000_000;
const PAUSE: u64 = 20 * MICROSECOND;

fn options(threads: u32, pinned: bool) -> Options {
    Options { threads, pinned, seed: 11, length: 1000 * MICROSECOND, events: 0 }
}

fn allocation(tlab: Tlab, hierarchy: Hierarchy, eden: usize) -> Allocation {
    let mutator = Mutator::constant(64, 20.0, 0.1);
    Allocation {
        tlab,
        hierarchy,
        eden,
        collector: Collector::Parallel,
        mutator,
        refill_cycles: 100.0,
        heap_cycles: 50.0.into(),
        pause: PAUSE,
    }
}

fn levels() -> Hierarchy {
    let rank = |domain, bytes| Rank { domain, bytes };
    Hierarchy::Levels(vec![rank(Domain::Core, 2 << 10), rank(Domain::Package, 8 << 10)])
}

/// What holds of every run.
fn check(allocated: &Allocated, allocation: &Allocation, threads: u32) {
    let (cycles, eden) = (allocated.collections, allocation.eden as u64);
    assert!(allocated.bytes <= (cycles + 1) * eden, "more than there was: {allocated:?}");
    assert_eq!(allocated.bytes, allocated.run.operations * 64);
    // Nobody allocates while a collection goes on.
    assert!(allocated.run.length >= cycles * PAUSE, "{} in {}", cycles, allocated.run.length);
    if let Tlab::Bytes(bytes) = allocation.tlab {
        // What a collection finds in buffers is all that is not used.
        let own = u64::from(threads) * bytes as u64;
        let levels: u64 =
            allocated.levels.iter().map(|level| level.get(Counter::WasteCollection) + level.remaining).sum();
        let waste = levels + (cycles + 1) * own + allocated.wasted;
        assert!(allocated.bytes + waste >= cycles * (eden - bytes as u64), "{allocated:?}");
    }
}

#[test]
fn collections_happen_and_lose_nothing() {
    let machine = machine([2, 1, 2, 2], "mesif", "");
    for hierarchy in [
        Hierarchy::None,
        levels(),
        Hierarchy::Paper(Rank { domain: Domain::Core, bytes: 8 << 10 }, UsedUp::NextBuffer),
    ] {
        for tlab in [Tlab::None, Tlab::Bytes(1 << 10)] {
            let allocation = allocation(tlab, hierarchy.clone(), 24 << 10);
            let allocated = run(&machine, &allocation, &options(8, true)).unwrap();
            assert!(allocated.collections > 1, "{tlab:?} {hierarchy:?}: {}", allocated.collections);
            check(&allocated, &allocation, 8);
        }
    }
}

#[test]
fn threads_that_share_cpus_and_move_stop_as_well() {
    let scheduler = number("quantum", 3000.0, "ns")
        + &number("switch", 500.0, "ns")
        + &number("migration_rate", 100_000.0, "per_second");
    let machine = machine([1, 2, 2, 1], "moesi", &scheduler);
    for pinned in [true, false] {
        let allocation = allocation(Tlab::Bytes(1 << 10), levels(), 128 << 10);
        let allocated = run(&machine, &allocation, &options(11, pinned)).unwrap();
        assert!(allocated.collections > 3 && allocated.run.outcome.preemptions > 50);
        assert_eq!(allocated.run.outcome.migrations > 50, !pinned);
        check(&allocated, &allocation, 11);
    }
}

#[test]
fn a_collection_is_not_kept_waiting_by_threads_that_have_ended() {
    let machine = machine([1, 1, 4, 1], "mesi", "");
    // The length ends in the midst of collections, at another moment of the cycle each time.
    for step in 0..40 {
        let allocation = allocation(Tlab::Bytes(512), Hierarchy::None, 8 << 10);
        let length = 30 * MICROSECOND + step * 700_000;
        let options = Options { length, ..options(6, true) };
        let allocated = run(&machine, &allocation, &options).unwrap();
        assert!(allocated.run.length >= length);
        check(&allocated, &allocation, 6);
    }
}

#[test]
fn an_eden_too_small_for_the_buffers_still_serves_what_it_can() {
    let machine = machine([1, 1, 4, 1], "mesi", "");
    for hierarchy in [Hierarchy::None, levels()] {
        let allocation = allocation(Tlab::Bytes(4 << 10), hierarchy, 1 << 10);
        let allocated = run(&machine, &allocation, &options(4, true)).unwrap();
        assert!(allocated.collections > 3 && allocated.bytes > 1 << 10);
        assert!(allocated.bytes <= (allocated.collections + 1) << 10);
    }
}

#[test]
fn an_object_that_is_larger_than_eden_is_never_counted() {
    let machine = machine([1, 1, 2, 1], "mesi", "");
    for tlab in [Tlab::None, Tlab::Bytes(256)] {
        let allocation = allocation(tlab, Hierarchy::None, 56);
        let allocated = run(&machine, &allocation, &options(2, true)).unwrap();
        assert_eq!((allocated.run.operations, allocated.bytes), (0, 0));
        assert!(allocated.collections > 0);
    }
}

#[test]
fn buffers_of_threads_need_no_whole_grains() {
    let machine = machine([1, 1, 2, 1], "mesi", "");
    let allocation = allocation(Tlab::Bytes(1001), levels(), 100_001);
    let allocated = run(&machine, &allocation, &options(2, true)).unwrap();
    check(&allocated, &allocation, 2);
}

#[test]
fn a_rest_that_never_fits_is_given_up_soon() {
    // 25 objects of 40 bytes leave 24 bytes of a kilobyte, more than the first limit of 16.
    let machine = machine([1, 1, 2, 1], "mesi", "");
    let mut allocation = allocation(Tlab::Bytes(1 << 10), Hierarchy::None, 1 << 30);
    allocation.mutator = Mutator::constant(40, 20.0, 0.1);
    let allocated = run(&machine, &allocation, &options(2, true)).unwrap();
    assert!(allocated.refills * 24 <= allocated.run.operations + 48, "{allocated:?}");
    assert!(allocated.objects <= allocated.refills, "{allocated:?}");
    assert!(allocated.refills > 100, "{allocated:?}");
}

#[test]
fn g1_goes_from_region_to_region_and_collects_as_often() {
    let g1 = |tlab| Allocation {
        collector: Collector::G1 { region: 1 << 20, numa: false },
        ..allocation(tlab, Hierarchy::None, 4 << 20)
    };
    let options = options(8, true);
    let support = machine([1, 1, 4, 2], "mesif", "");
    let allocated = run(&support, &g1(Tlab::Bytes(16 << 10)), &options).unwrap();
    check(&allocated, &g1(Tlab::Bytes(16 << 10)), 8);
    assert!(allocated.collections > 2, "{allocated:?}");
    let parallel =
        run(&support, &allocation(Tlab::Bytes(16 << 10), Hierarchy::None, 4 << 20), &options).unwrap();
    assert!(allocated.run.operations < parallel.run.operations, "Heap_lock and longer calls cost something");
    // The lock is taken for each region but the first one of each cycle.
    let line = |name: &str| allocated.run.outcome.traffic.lines.iter().find(|line| line.name == name);
    let lock = line("heap: lock").expect("the lock");
    let locked = lock.hits + lock.writes + lock.upgrades;
    assert!(locked >= 3 * allocated.collections, "{locked}");
}

#[test]
fn g1_with_a_region_for_each_node_has_no_top_go_from_package_to_package() {
    let machine = machine([2, 1, 2, 1], "mesif", "");
    let crossing = |numa| {
        let mut g1 = allocation(Tlab::Bytes(16 << 10), Hierarchy::None, 1 << 30);
        g1.collector = Collector::G1 { region: 1 << 20, numa };
        let options = Options { events: 1, ..options(4, true) };
        let allocated = run(&machine, &g1, &options).unwrap();
        check(&allocated, &g1, 4);
        let lines = allocated.run.outcome.traffic.lines.iter();
        let tops = lines.filter(|line| line.name == "heap: top" || line.name.starts_with("heap: current"));
        let pairs = tops.flat_map(|line| line.pairs.iter());
        pairs.filter(|((from, to), _)| from / 2 != to / 2).map(|(_, (moves, _))| moves).sum::<u64>()
    };
    let [one, each] = [false, true].map(crossing);
    assert!(one > 100 && each == 0, "{one} {each}");
}
