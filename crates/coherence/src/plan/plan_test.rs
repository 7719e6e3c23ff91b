use super::candidates::candidates;
use super::*;

pub(super) fn request(threads: u32, eden: usize) -> Request {
    Request {
        program: Program::Allocate,
        object: 64,
        work: 40.0,
        threads,
        eden,
        collector: Collector::Parallel,
        survivors: Survivors::stated(0.0),
        pauses: Pauses::default(),
        calls: Calls::default(),
        pinned: true,
        seed: 1,
        length: Some(40_000_000),
    }
}

fn row(objects: f64, held: u64) -> Row {
    Row {
        chain: Chain::Core,
        agent: true,
        tlab: "4k".into(),
        tlab_bytes: 4096,
        core_bytes: Some(65536),
        l3_bytes: None,
        package_bytes: None,
        objects_per_second: objects,
        between_collections: objects,
        collections: Collections::default(),
        heap_requests_per_second: 0.0,
        over_growing: 1.0,
        over_same_tlab: 1.0,
        held_bytes: held,
        limit: None,
    }
}

#[test]
fn the_least_memory_of_those_that_are_close_to_the_best() {
    let rows = [row(100.0, 500), row(98.5, 80), row(97.0, 10), row(99.0, 80)];
    assert_eq!(choose(rows.iter()), Some(&rows[1]));
    assert_eq!(choose([].iter()), None);
}

#[test]
fn candidates_fit_the_machine_and_eden() {
    let machine = Machine::named("paper-4x10x2").unwrap();
    let all = candidates(&machine, &request(40, 1 << 30));
    assert_eq!((all[0].chain, all[0].tlab), (Chain::Heap, Tlab::Growing));
    assert!(all.iter().all(|candidate| candidate.chain != Chain::CorePackage), "its L3 is its package");
    let epyc = Machine::named("epyc-9654-2x96").unwrap();
    let all = candidates(&epyc, &request(40, 16 << 20));
    let held =
        |candidate: &Candidate| request(40, 16 << 20).scenario(1, candidate.tlab, candidate.hierarchy());
    for candidate in &all {
        assert!(held(candidate).held(&epyc) <= 12 << 20, "{candidate:?}");
        assert_eq!(held(candidate).check(), Ok(()), "{candidate:?}");
    }
}

/// Where no size is both large for so many threads and small for eden, the largest that fits is tried, with levels too.
#[test]
fn crowds_over_small_edens_have_candidates() {
    let epyc = Machine::named("epyc-9654-2x96").unwrap();
    let sizes = |threads, eden| {
        let all = candidates(&epyc, &request(threads, eden));
        let mut sizes: Vec<usize> = all.iter().skip(1).map(|one| one.tlab.bytes(eden, threads)).collect();
        sizes.dedup();
        let levels = all.iter().filter(|one| one.chain == Chain::CoreL3).count();
        assert_eq!(levels > 0, all.len() > 1, "{threads} threads: {all:?}");
        sizes
    };
    assert_eq!(sizes(2000, 256 << 20), [16 << 10]);
    assert_eq!(sizes(5000, 256 << 20), [4 << 10]);
    assert_eq!(sizes(5000, 64 << 30), [64 << 10]);
    assert_eq!(sizes(1000, 64 << 30), [16 << 10, 64 << 10]);
    assert_eq!(sizes(8192, 40 << 20), [0; 0]);
}

#[test]
fn fast_and_slow_programs_allocate_as_much() {
    let mut machine = Machine::named("paper-4x10x2").unwrap();
    machine.costs.work_scale = 1.0;
    let usual = |work| Request { work, length: None, ..request(1, 1 << 30) }.length(&machine);
    let (fast, slow) = (usual(40.0), usual(400.0));
    assert!((500_000_000..2_000_000_000).contains(&fast), "{fast}");
    assert!(slow > 7 * fast && slow < 10 * fast, "{slow}");
    assert_eq!(request(1, 1 << 30).length(&machine), 40_000_000);
}

#[test]
fn where_lines_are_slow_levels_pay_and_for_a_thread_alone_they_do_not() {
    let mut machine = Machine::named("thompson-nehalem").unwrap();
    // Four cores with the contention of hundreds.
    machine.costs.transfer_cluster *= 100;
    // An eden that the cache holds, so that memory is no bound, and whose growing TLABs are small.
    let crowd = plan(&machine, &request(8, 8 << 20), |_, _| ()).unwrap();
    let chosen = &crowd.best;
    assert!(chosen.core_bytes.is_some() || chosen.l3_bytes.is_some(), "{chosen:?}");
    let best = crowd.all.iter().filter(|row| row.agent).map(|row| row.objects_per_second).fold(0.0, f64::max);
    assert!(chosen.objects_per_second >= best * (1.0 - CLOSE));
    assert!(chosen.over_same_tlab > 1.1, "{chosen:?}");
    // Whatever the numbers of the machine are within their ranges: so it is recommended.
    let sure = crowd.sure.as_ref().expect("not HotSpot's own TLABs");
    assert!(sure.wins() && sure.low <= sure.ratio && sure.ratio <= sure.high, "{sure:?}");
    assert_eq!(crowd.recommended, crowd.best);
    assert!(sure.tornado.len() > 5 && sure.tornado[0].parameter != "collections", "{sure:?}");
    assert_eq!(crowd.chains[0].tlab, "growing");
    assert!(crowd.chains.iter().skip(1).all(|row| row.tlab != "growing"));

    let alone = plan(&machine, &request(1, 64 << 20), |_, _| ()).unwrap();
    assert_eq!(alone.recommended.chain, Chain::Heap, "{:?}", alone.recommended);
    assert_eq!(alone.recommended.tlab, "growing", "what nobody can tell apart is not recommended");
}
