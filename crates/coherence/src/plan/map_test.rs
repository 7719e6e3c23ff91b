use super::*;
use crate::plan::{Calls, Collector, Pauses, Program, Survivors};

fn request() -> Request {
    Request {
        program: Program::Allocate,
        object: 64,
        work: 40.0,
        threads: 1,
        eden: 1 << 30,
        collector: Collector::Parallel,
        survivors: Survivors::default(),
        pauses: Pauses::default(),
        calls: Calls::default(),
        pinned: true,
        seed: 1,
        length: None,
    }
}

fn mutator() -> crate::programs::allocate::Mutator {
    request().scenario(1, Tlab::Growing, Hierarchy::None).mutator().unwrap()
}

#[test]
fn many_threads_over_a_small_eden_need_buffers_and_few_over_a_large_one_do_not() {
    let machine = Machine::named("epyc-9654-2x96").unwrap();
    let places = map(&machine, &request(), &[4, 2000], &[256 << 20, 64 << 30], |_, _| ()).unwrap();
    let at = |threads: u32, eden: usize| {
        places.iter().find(|place| (place.threads, place.eden) == (threads, eden)).unwrap()
    };
    assert_eq!((at(4, 64 << 30).choice().way, at(4, 64 << 30).choice().bound), (Way::Growing, Bound::Work));
    let crowded = at(2000, 256 << 20);
    assert_eq!(crowded.rates[0].bound, Bound::Heap, "{crowded:?}");
    assert!(
        crowded.gain() > 5.0 && !matches!(crowded.choice().way, Way::Growing | Way::Small),
        "{crowded:?}"
    );
    // A large eden's growing TLABs ask the heap rarely: memory decides for all.
    let roomy = at(2000, 64 << 30);
    assert_eq!((roomy.choice().way, roomy.choice().bound), (Way::Growing, Bound::Memory), "{roomy:?}");
}

/// The arithmetic against a simulation of the very place, where one bound decides and where another one does.
#[test]
fn the_map_is_what_a_simulation_gives() {
    let machine = Machine::named("xeon-8375c-2x32x2").unwrap();
    for (eden, way) in [(32 << 20, Way::Growing), (1 << 30, Way::Small), (1 << 30, Way::Core)] {
        let threads = 64;
        let places = map(&machine, &request(), &[threads], &[eden], |_, _| ()).unwrap();
        let found = places[0].rates.iter().find(|rate| rate.way == way).unwrap();
        let between = found.per_second / (1.0 - found.collecting);
        let asked = Request { threads, eden, ..request() };
        let hierarchy = Sizes::default().hierarchy(way.levels(), &machine, eden);
        let (measured, _) = asked.scenario(2_000_000_000, way.tlab(), hierarchy).run(&machine, 0).unwrap();
        let ratio = between / measured.per_second;
        assert!((0.6..1.6).contains(&ratio), "{way:?}: {ratio}, {found:?}, {measured:?}");
    }
}

/// Where threads reach a part of the clusters or one of two packages, the way of new objects is as narrow as in a simulation: of 24
/// threads on three ports, say. So it is for each way to refill, as far as refills are few.
#[test]
fn the_ways_of_new_objects_are_those_that_threads_reach() {
    let machine = Machine::named("epyc-9654-2x96").unwrap();
    // Cached in one cluster, in three, and in none that so many threads reach.
    for (threads, eden) in [(8, 16 << 20), (8, 1 << 30), (24, 64 << 20), (24, 256 << 20), (96, 4 << 30)] {
        let places = map(&machine, &request(), &[threads], &[eden], |_, _| ()).unwrap();
        let found = &places[0].rates[0];
        let asked = Request { threads, eden, ..request() };
        let scenario = asked.scenario(200_000_000, Tlab::Growing, Hierarchy::None);
        let steady = super::super::steady::Steady::of(&machine, &scenario).unwrap();
        let ratio = found.per_second / (1.0 - found.collecting) / steady.objects;
        let limit = steady.limit.unwrap();
        assert_eq!(found.bound, limit.bound, "{threads}, {eden}: {found:?}, {limit:?}");
        assert!((0.97..1.03).contains(&ratio), "{threads}, {eden}: {ratio}, {found:?}, {limit:?}");
    }
    // Three ports of 57.6 GB/s for the twice 64 bytes of an object, of the work of 24 threads.
    let places = map(&machine, &request(), &[24], &[1 << 30], |_, _| ()).unwrap();
    let (growing, work) = (places[0].rates[0], work(&machine, &mutator(), 24));
    assert_eq!(growing.bound, Bound::Cluster);
    let of_work = growing.per_second / (1.0 - growing.collecting) / work;
    assert!(
        (of_work - 3.0 * 57.6e9 / 128.0 / work).abs() < 1e-6 && (0.83..0.85).contains(&of_work),
        "{of_work}"
    );
}

/// G1's regions are those of each eden's heap: a small one hands out less at once, whatever the request's own heap is.
#[test]
fn regions_are_those_of_each_eden() {
    let machine = Machine::named("epyc-9654-2x96").unwrap();
    let rates = |heap| {
        let request = Request { collector: Collector::g1(heap, false), ..request() };
        within(&machine, &[(machine.clone(), request)], &[4], &[256 << 20, 64 << 30], |_, _| ()).unwrap()
    };
    let (small, large) = (rates(1 << 30), rates(256 << 30));
    assert_eq!(small, large);
    // 0.3 MB of TLAB for each of 200 growing ones, and half a region at most: 512 KB of the small eden's and 16 MB of the large one's.
    let heap = |eden: usize| Collector::g1(HEAP_OF_EDEN * eden, false).most();
    assert_eq!([heap(256 << 20), heap(64 << 30)], [512 << 10, 16 << 20]);
}

/// What is advised on each shipped machine, where it is crowded and where it is not.
#[test]
fn each_shipped_machine_needs_buffers_where_it_is_crowded_and_only_there() {
    for (name, _) in crate::machine::shipped() {
        let machine = Machine::named(name).unwrap();
        let (small, large) = (256 << 20, 64 << 30);
        let places =
            within(&machine, &[(machine.clone(), request())], &[1, 5000], &[small, large], |_, _| ())
                .unwrap();
        let at = |threads: u32, eden: usize| {
            places.iter().find(|place| (place.threads, place.eden) == (threads, eden)).unwrap()
        };
        assert_eq!(at(1, large).choice().way, Way::Growing, "{name}: {:?}", at(1, large));
        if machine.shape.cpus() >= 40 {
            let crowded = at(5000, small);
            assert_eq!(crowded.rates[0].bound, Bound::Heap, "{name}: {crowded:?}");
            assert!(crowded.gain() > 2.0, "{name}: {crowded:?}");
        }
    }
}
