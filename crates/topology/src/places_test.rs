use super::*;
use crate::fake::Fake;
use crate::id::{CpuId, DomainIndex};
use crate::sysfs::RawCpu;
use crate::test_support;

fn machine() -> Machine {
    Machine::fake(Fake { packages: 2, cores: 32, threads: 1, holes: vec![] })
}

fn places(machine: &Machine, ids: bool) -> Places {
    let id = CpuSource::fixed(|| CpuId(1));
    Places::choose(machine, if ids { Ok(id) } else { Err("none") }, || CpuSource::fixed(|| CpuId(63)))
}

fn core(machine: &Machine, ids: bool) -> DomainMap {
    places(machine, ids).domains(machine, DomainKind::Core)
}

#[test]
fn the_whole_machine_has_the_domains_of_its_topology() {
    for ids in [true, false] {
        let machine = machine();
        let cores = core(&machine, ids);
        assert_eq!((cores.count(), cores.known(), cores.exclusive()), (64, 64, 64));
        assert_eq!(places(&machine, ids).source().current(), CpuId(63));
        assert_eq!(places(&machine, ids).domains(&machine, DomainKind::Package).count(), 2);
    }
}

#[test]
fn a_quota_of_two_cpus_on_64_gets_two_domains() {
    for (ids, number) in [(true, CpuId(1)), (false, CpuId(63))] {
        let machine = machine().with_quota(2.0);
        let cores = core(&machine, ids);
        assert_eq!((cores.count(), cores.exclusive()), (2, 0), "shared: counted with locked additions");
        assert_eq!(places(&machine, ids).source().current(), number);
        assert!((0..200).all(|id| cores.of(CpuId(id)).index() < 2));
        assert_eq!(cores.of(CpuId(3)), DomainIndex(1));
    }
    assert_eq!(core(&machine().with_quota(1.5), true).count(), 2);
    assert_eq!(core(&machine().with_quota(0.1), true).count(), 1);
    assert_eq!(core(&machine().with_quota(100.0), true).count(), 64);
}

/// Two packages are two nodes: threads of both meet in the domains of a quota, and in none of the topology's.
#[test]
fn no_domain_of_the_topology_has_cpus_of_two_nodes() {
    let machine = machine().with_quota(8.0);
    let mixed = |places: &Places| {
        let (cores, nodes) = (places.domains(&machine, DomainKind::Core), machine.domains(DomainKind::Node));
        let node_of = |cpu| nodes.of(CpuId(cpu));
        (0..64).any(|cpu| {
            (0..64)
                .any(|other| cores.of(CpuId(cpu)) == cores.of(CpuId(other)) && node_of(cpu) != node_of(other))
        })
    };
    assert_eq!(machine.count(DomainKind::Node), 2);
    assert!(mixed(&places(&machine, true)) && mixed(&places(&machine, false)));
    assert!(!mixed(&Places::of_topology(CpuSource::fixed(|| CpuId(63)))));
}

#[test]
fn processors_are_not_more_than_the_quota_either() {
    let machine = machine().with_quota(1.0);
    for ids in [true, false] {
        assert_eq!(places(&machine, ids).domains(&machine, DomainKind::Package).count(), 1);
    }
}

#[test]
fn an_affinity_of_four_cpus_gets_four_domains_and_as_many_for_what_comes_later() {
    let machine = machine().allowing(&[7, 8, 40, 41]);
    let ids = core(&machine, true);
    assert_eq!((ids.count(), ids.known(), ids.exclusive()), (8, 4, 4));
    assert_eq!(ids.of(CpuId(3)), DomainIndex(3));
    // The affinity was widened: a fifth thread runs at the same time.
    assert_eq!(ids.of(CpuId(4)), DomainIndex(4));
    assert_eq!(ids.of(CpuId(100_000)), DomainIndex(4));
    let cpus = core(&machine, false);
    assert_eq!((cpus.count(), cpus.known(), cpus.exclusive()), (8, 4, 4));
    assert_eq!(cpus.of(CpuId(41)), DomainIndex(3));
    // It was moved to four others: none of them shares a domain, with these or each other.
    assert_eq!([0, 1, 2, 3].map(|cpu| cpus.of(CpuId(cpu))), [4, 5, 6, 7].map(DomainIndex));
}

#[test]
fn a_cpu_that_is_switched_on_later_has_no_ones_domain() {
    let machine = Machine::fake(Fake { packages: 1, cores: 4, threads: 1, holes: vec![3] });
    let cores = core(&machine, false);
    assert_eq!((cores.count(), cores.exclusive()), (6, 3));
    assert_eq!(cores.of(CpuId(3)), DomainIndex(3));
    assert_eq!(cores.of(CpuId(2)), DomainIndex(2));
}

/// In a sandbox without sysfs nobody knows how many CPUs there can be.
#[test]
fn a_cpu_that_is_allowed_later_has_no_ones_domain_where_only_the_allowed_ones_are_known() {
    let raw = |id| RawCpu { id, core: id, package: 0, cluster: None, cache: None, node: None };
    let assemble = |possible| Machine::assemble(vec![raw(0), raw(1)], possible, 0, Vec::new());
    let root = tempfile::tempdir().unwrap();
    let read = Machine::from_sysfs(root.path(), Some(&[CpuId(0), CpuId(1)])).unwrap();
    // What says that there is one CPU, of two, is not believed.
    for machine in [assemble(0), assemble(1), read] {
        let cores = core(&machine, false);
        assert_eq!(cores.exclusive(), 2);
        assert!((2..200).all(|id| cores.of(CpuId(id)).index() >= cores.exclusive()), "{cores:?}");
    }
    let closed = core(&assemble(2), false);
    assert_eq!((closed.count(), closed.exclusive()), (2, 2));
}

#[test]
fn siblings_share_a_domain_and_count_with_locked_additions() {
    let machine = Machine::fake(Fake { packages: 1, cores: 4, threads: 2, holes: vec![] });
    assert_eq!((core(&machine, true).count(), core(&machine, true).exclusive()), (4, 0));
}

#[test]
fn concurrency_ids_differ_between_threads_that_run_at_the_same_time() {
    if let Err(reason) = CpuSource::concurrency() {
        return skips::skip!("{reason}");
    }
    // A number that a thread holds while it runs is nobody else's: as many threads as CPUs see as many numbers at most.
    test_support::on_each_cpu(|_| {
        let source = CpuSource::concurrency().unwrap();
        assert_eq!(source.name(), "concurrency ids");
        let online = Machine::detect().online();
        for _ in 0..1000 {
            assert!((source.current().0 as usize) < online, "as dense as the CPUs");
        }
    });
}
