//! No result is above what the machine's memory, links and cores can do.

mod support;

use proptest::prelude::*;
use support::machine;
use terrace_coherence::machine::{Bandwidth, Machine};
use terrace_coherence::plan::map::map;
use terrace_coherence::plan::{Pauses, Request, Survivors, plan};
use terrace_coherence::programs::Options;
use terrace_coherence::programs::allocate::{Collector, Hierarchy, Tlab};
use terrace_coherence::programs::counters::{self, Increment, Layout};
use terrace_coherence::scenario::{Bound, Calls, Levels, Measured, Program, Scenario, Sizes};

fn machines() -> impl Strategy<Value = Machine> {
    let shapes = (1..=3_u32, 1..=3_u32, 1..=4_u32, 1..=2_u32);
    let rates = (0.2..50.0_f64, 0.2..50.0_f64, 0.2..100.0_f64, 0.1..50.0_f64, 1.0..=2.0_f64);
    let protocols = prop::sample::select(vec!["mesi", "mesif", "moesi"]);
    (shapes, rates, protocols).prop_map(|((packages, clusters, cores, threads), rates, protocol)| {
        let mut machine = machine([packages, clusters, cores, threads], protocol, "");
        let (core, cluster, channels, link, traffic) = rates;
        let [core, cluster, channels, link] = [core, cluster, channels, link].map(|rate| rate * 1e9);
        machine.bandwidth = Bandwidth { core, cluster, channels, link, traffic, last_cache: 1e6 };
        machine
    })
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let tlabs = prop::sample::select(vec![Tlab::Bytes(2048), Tlab::Bytes(16 << 10), Tlab::Growing]);
    let levels = prop::sample::select(vec![Levels::NONE, Levels::CORE, Levels::L3, Levels::CORE_L3]);
    let g1 = |numa| Collector::G1 { region: 1 << 20, numa };
    let collectors = prop::sample::select(vec![Collector::Parallel, g1(false), g1(true)]);
    (1..40_u32, tlabs, levels, collectors, 16..512_u32, 1.0..200.0_f64, any::<u64>()).prop_map(
        |(threads, tlab, levels, collector, object, work, seed)| Scenario {
            program: Program::Allocate,
            threads,
            tlab,
            hierarchy: hierarchy(levels),
            eden: 1 << 30,
            collector,
            object,
            work,
            calls: Calls::default(),
            pinned: true,
            seed,
            length: 30_000_000,
        },
    )
}

/// With sizes of its own: the machine is drawn apart.
fn hierarchy(levels: Levels) -> Hierarchy {
    let machine = machine([1, 1, 1, 1], "mesi", "");
    Sizes { core: Some(64 << 10), l3: Some(512 << 10), package: None }.hierarchy(levels, &machine, 1 << 30)
}

/// Bytes of objects in a second that the machine can take, from its file alone.
fn most(machine: &Machine, scenario: &Scenario) -> f64 {
    let (shape, bandwidth) = (&machine.shape, &machine.bandwidth);
    // Threads fill cores first, in the order of their numbers.
    let cores: Vec<u32> = (0..scenario.threads.min(shape.cores())).collect();
    let packages = cores.chunk_by(|one, other| {
        one / (shape.cores * shape.clusters) == other / (shape.cores * shape.clusters)
    });
    let cluster = |cores: &[u32]| (cores.len() as f64 * bandwidth.core).min(bandwidth.cluster);
    let ports = |cores: &[u32]| -> f64 {
        cores.chunk_by(|one, other| one / shape.cores == other / shape.cores).map(cluster).sum()
    };
    let ports: Vec<f64> = packages.map(ports).collect();
    if scenario.collector.local() {
        return ports.iter().map(|ports| ports.min(bandwidth.channels)).sum::<f64>() / bandwidth.traffic;
    }
    let (all, reached) = (f64::from(shape.packages), ports.len() as f64);
    let mut most = ports.iter().sum::<f64>().min(all * bandwidth.channels);
    if shape.packages > 1 {
        // Of each byte that is on the way for a package the other packages' part crosses, half of it in each direction; at best each of
        // the packages that have threads writes as much as the others.
        let own = (all - 1.0) / all / reached / 2.0;
        let others = (1.0 - 1.0 / reached) / all / 2.0;
        most = most.min(bandwidth.link / (own + others));
    }
    most / bandwidth.traffic
}

fn check(machine: &Machine, scenario: &Scenario, measured: &Measured) -> Result<(), TestCaseError> {
    let most = most(machine, scenario);
    let bytes = measured.per_second * f64::from(scenario.object.next_multiple_of(8));
    prop_assert!(bytes <= most * 1.000_001, "{bytes} of {most}: {:?}", measured.roofline);
    for limit in &measured.roofline.0 {
        // Threads of a core that wait for lines let the others run at full speed for a while.
        let together = limit.bound == Bound::Work && machine.shape.threads > 1;
        let slack = if together { machine.costs.sibling_work } else { 1.000_001 };
        prop_assert!(limit.used <= slack, "{limit:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_run_is_above_a_roofline(machine in machines(), scenario in scenarios()) {
        let (measured, _) = scenario.run(&machine, 0).unwrap();
        check(&machine, &scenario, &measured)?;
    }

    #[test]
    fn no_plan_is_above_a_roofline(machine in machines(), threads in 1..20_u32, object in 2..40_u32) {
        let object = object * 8;
        let request = Request {
            program: Program::Allocate,
            object,
            work: 10.0,
            threads,
            eden: 1 << 30,
            collector: Collector::Parallel,
            survivors: Survivors::default(),
            pauses: Pauses::default(),
            calls: Calls::default(),
            pinned: true,
            seed: 1,
            length: Some(10_000_000),
        };
        let plan = plan(&machine, &request, |_, _| ()).unwrap();
        let scenario = Scenario {
            program: request.program,
            threads,
            tlab: Tlab::Growing,
            hierarchy: Hierarchy::None,
            eden: request.eden,
            collector: Collector::Parallel,
            object,
            work: request.work,
            calls: Calls::default(),
            pinned: true,
            seed: 1,
            length: 1,
        };
        let most = most(&machine, &scenario);
        for row in &plan.all {
            let bytes = row.objects_per_second * f64::from(object);
            prop_assert!(bytes <= most * 1.000_001, "{bytes} of {most}: {row:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_map_is_above_a_roofline(machine in machines(), scenario in scenarios()) {
        let request = Request {
            program: Program::Allocate,
            object: scenario.object.next_multiple_of(8),
            work: scenario.work,
            threads: 1,
            eden: scenario.eden,
            collector: scenario.collector,
            survivors: Survivors::stated(0.0),
            pauses: Pauses::default(),
            calls: Calls::default(),
            pinned: true,
            seed: scenario.seed,
            length: None,
        };
        let most = most(&machine, &scenario);
        for place in map(&machine, &request, &[scenario.threads], &[scenario.eden], |_, _| ()).unwrap() {
            for rate in &place.rates {
                let bytes = rate.per_second * f64::from(request.object);
                prop_assert!(bytes <= most * 1.000_001, "{bytes} of {most}: {rate:?}");
            }
        }
    }
}

/// The part of the time for which a counter's line can do nothing else.
fn used(machine: &Machine, increment: Increment, threads: u32, length: u64) -> f64 {
    let options = Options { threads, pinned: true, seed: 1, length, events: 0 };
    let run = counters::run(machine, increment, Layout::Shared, &options).unwrap();
    run.outcome.traffic.lines[0].occupied as f64 / run.length as f64
}

/// Nothing else bounds threads that increment one counter.
#[test]
fn a_saturated_line_is_used_up() {
    for name in ["thompson-nehalem", "opsian-haswell", "downs-ice-lake", "paper-4x10x2", "epyc-9654-2x96"] {
        let mut machine = Machine::named(name).unwrap();
        for residency in [machine.costs.residency, 200_000] {
            machine.costs.residency = residency;
            let used = used(&machine, Increment::ExchangeAdd, 4, 200_000_000);
            assert!((0.99..=1.0).contains(&used), "{name}, {residency} ps: {used}");
        }
    }
}

/// What a core keeps beyond the end has not passed.
#[test]
fn no_line_is_used_for_longer_than_time_has_passed() {
    let mut machine = machine([1, 1, 4, 1], "mesi", "");
    machine.costs.residency = 1_000_000;
    for increment in [Increment::ExchangeAdd, Increment::CompareExchange, Increment::Plain] {
        for threads in [1, 4] {
            let used = used(&machine, increment, threads, 1);
            assert!((0.5..=1.0).contains(&used), "{increment:?}, {threads} threads: {used}");
        }
    }
}

/// Threads that seldom increment leave the line alone.
#[test]
fn a_line_that_waits_for_its_threads_is_not_used_up() {
    let machine = machine([1, 1, 2, 1], "mesi", "");
    let options = Options { threads: 2, pinned: true, seed: 1, length: 200_000_000, events: 0 };
    let cycles = counters::Cycles { around: 2_000.0, after_lock: 0.0 };
    let run = counters::run_with(&machine, Increment::ExchangeAdd, Layout::Shared, cycles, &options).unwrap();
    // A transfer of 30 ns, and 2 from the read to the write, in each half of 1,040 ns.
    let used = run.outcome.traffic.lines[0].occupied as f64 / run.length as f64;
    assert!((0.060..0.063).contains(&used), "{used}");
}

/// Two packages, one core in each: eden is spread over both.
#[test]
fn each_way_bounds_where_it_is_the_narrowest() {
    let spread = Collector::Parallel;
    let rate = |collector: Collector, core: f64, cluster: f64, channels: f64, link: f64| {
        let mut machine = machine([2, 1, 1, 1], "mesi", "");
        let [core, cluster, channels, link] = [core, cluster, channels, link].map(|rate| rate * 1e9);
        machine.bandwidth = Bandwidth { core, cluster, channels, link, traffic: 2.0, last_cache: 1e6 };
        let scenario = Scenario {
            program: Program::Allocate,
            threads: 2,
            tlab: Tlab::Bytes(64 << 10),
            hierarchy: Hierarchy::None,
            eden: 1 << 30,
            collector,
            object: 64,
            work: 1.0,
            calls: Calls::default(),
            pinned: true,
            seed: 1,
            length: 2_000_000_000,
        };
        let (measured, _) = scenario.run(&machine, 0).unwrap();
        let first = measured.roofline.first().unwrap();
        (first.bound, measured.per_second * 64.0 / 1e9)
    };
    let near = |found: f64, expected: f64| (0.97..=1.0).contains(&(found / expected));
    // Bytes on the way are twice those of objects: two cores of 2 GB/s write 2 GB/s.
    let (bound, bytes) = rate(spread, 2.0, 99.0, 99.0, 99.0);
    assert!(bound == Bound::Core && near(bytes, 2.0), "{bound} {bytes}");
    let (bound, bytes) = rate(spread, 99.0, 1.0, 99.0, 99.0);
    assert!(bound == Bound::Cluster && near(bytes, 1.0), "{bound} {bytes}");
    let (bound, bytes) = rate(spread, 99.0, 99.0, 3.0, 99.0);
    assert!(bound == Bound::Memory && near(bytes, 3.0), "{bound} {bytes}");
    // Half of all lines cross, read one way and written back the other: 1 GB/s out of each package is 2 GB/s of new objects.
    let (bound, bytes) = rate(spread, 99.0, 99.0, 99.0, 1.0);
    assert!(bound == Bound::Link && near(bytes, 2.0), "{bound} {bytes}");
    // With G1's regions for each node none crosses: two packages of 3 GB/s write 3 GB/s.
    let (bound, bytes) = rate(Collector::G1 { region: 32 << 20, numa: true }, 99.0, 99.0, 3.0, 0.1);
    assert!(bound == Bound::Memory && near(bytes, 3.0), "{bound} {bytes}");
}

/// 24 threads have three of the 24 caches of 32 MB: 256 MB do not stay there.
#[test]
fn caches_that_no_thread_reaches_hold_nothing() {
    let machine = Machine::named("epyc-9654-2x96").unwrap();
    let bounds = |threads, eden, pinned| {
        let scenario = Scenario {
            program: Program::Allocate,
            threads,
            tlab: Tlab::Growing,
            hierarchy: Hierarchy::None,
            eden,
            collector: Collector::Parallel,
            object: 64,
            work: 40.0,
            calls: Calls::default(),
            pinned,
            seed: 1,
            length: 50_000_000,
        };
        let (measured, _) = scenario.run(&machine, 0).unwrap();
        measured.roofline.0.iter().any(|limit| limit.bound == Bound::Memory)
    };
    assert!(!bounds(24, 64 << 20, true) && bounds(24, 256 << 20, true));
    assert!(!bounds(192, 512 << 20, true) && bounds(192, 1 << 30, true));
    // Threads that move may come to a cluster each.
    assert!(!bounds(24, 256 << 20, false));
}

#[test]
fn what_the_caches_hold_needs_no_memory() {
    let mut machine = machine([1, 1, 2, 1], "mesi", "");
    machine.bandwidth.channels = 1e9;
    machine.bandwidth.last_cache = 64e6;
    let scenario = |eden| Scenario {
        program: Program::Allocate,
        threads: 2,
        tlab: Tlab::Bytes(16 << 10),
        hierarchy: Hierarchy::None,
        eden,
        collector: Collector::Parallel,
        object: 64,
        work: 20.0,
        calls: Calls::default(),
        pinned: true,
        seed: 1,
        length: 200_000_000,
    };
    let rate = |eden| scenario(eden).run(&machine, 0).unwrap().0;
    let (held, streamed) = (rate(32 << 20), rate(128 << 20));
    assert_eq!(streamed.roofline.first().unwrap().bound, Bound::Memory);
    assert!(held.per_second > 3.0 * streamed.per_second, "{held:?}");
    assert!(held.roofline.0.iter().all(|limit| limit.bound != Bound::Memory));
}
