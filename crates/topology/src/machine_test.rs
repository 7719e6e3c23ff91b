use super::*;
use crate::fake::Fake;

fn raw(id: u32, core: u32, package: u32, cache: Option<u32>, node: Option<u32>) -> RawCpu {
    RawCpu { id, core, package, cluster: None, cache, node }
}

fn order(machine: &Machine) -> Vec<u32> {
    machine.cpus().iter().map(|cpu| cpu.id.0).collect()
}

#[test]
fn four_packages_of_ten_cores() {
    let machine = Machine::fake(Fake { packages: 4, cores: 10, threads: 2, holes: vec![] });
    assert_eq!(machine.to_string(), "80 CPUs, 40 cores, 4 caches, 4 packages, 4 nodes");
    assert_eq!(order(&machine)[..6], [0, 40, 1, 41, 2, 42]);
    assert_eq!(order(&machine)[78..], [39, 79]);
    assert_eq!(machine.processor_kind(), DomainKind::Package);
    let last = machine.cpu(CpuId(79)).unwrap();
    assert_eq!((last.core.0, last.cache.0, last.package.0, last.node.0), (39, 3, 3, 3));
    assert!(machine.remarks().is_empty());
}

#[test]
fn packages_numbered_in_turn_are_put_together() {
    // Even numbers in package 0, odd ones in package 1, as some firmware has it.
    let cpus = (0..8).map(|id| raw(id, id, id % 2, Some(id % 2), Some(id % 2))).collect();
    let machine = Machine::assemble(cpus, 8, 0, Vec::new());
    assert_eq!(order(&machine), [0, 2, 4, 6, 1, 3, 5, 7]);
    let cores = machine.domains(DomainKind::Core);
    assert_eq!(cores.of(CpuId(2)), DomainIndex(1));
    assert_eq!(cores.of(CpuId(1)), DomainIndex(4));
    assert_eq!(cores.group(DomainIndex(3)), 0);
    assert_eq!(cores.group(DomainIndex(4)), 1);
}

#[test]
fn several_caches_in_a_package_are_the_processors() {
    // Four L3 caches of two cores in one package; nodes 0 and 1 take every other cache.
    let cpus = (0..8).map(|id| raw(id, id, 0, Some(id / 2 * 2), Some(id / 2 % 2))).collect();
    let machine = Machine::assemble(cpus, 8, 0, Vec::new());
    assert_eq!(machine.processor_kind(), DomainKind::Cache);
    // Caches of one node are neighbours.
    assert_eq!(order(&machine), [0, 1, 4, 5, 2, 3, 6, 7]);
    let caches = machine.domains(machine.processor_kind());
    let groups: Vec<u16> = (0..4).map(|index| caches.group(DomainIndex(index))).collect();
    assert_eq!(groups, [0, 0, 1, 1]);
}

#[test]
fn nodes_narrower_than_a_cache() {
    let cpus = (0..4).map(|id| raw(id, id, 0, Some(0), Some(id / 2))).collect();
    let machine = Machine::assemble(cpus, 4, 0, Vec::new());
    assert_eq!(machine.processor_kind(), DomainKind::Package);
    assert_eq!(machine.count(DomainKind::Node), 2);
    assert_eq!(machine.domains(DomainKind::Core).group(DomainIndex(3)), 1);
}

#[test]
fn one_node_over_two_packages_groups_by_package() {
    let cpus = (0..4).map(|id| raw(id, id, id / 2, Some(id / 2 * 2), Some(0))).collect();
    let machine = Machine::assemble(cpus, 4, 0, Vec::new());
    let cores = machine.domains(DomainKind::Core);
    assert_eq!(machine.count(DomainKind::Node), 1);
    assert_eq!((cores.group(DomainIndex(1)), cores.group(DomainIndex(2))), (0, 1));
}

#[test]
fn a_cache_never_spans_packages() {
    let cpus = (0..4).map(|id| raw(id, id, id / 2, Some(0), None)).collect();
    let machine = Machine::assemble(cpus, 4, 0, Vec::new());
    assert_eq!(machine.count(DomainKind::Cache), 2);
    assert_eq!(machine.count(DomainKind::Node), 2);
    assert_eq!(machine.processor_kind(), DomainKind::Package);
}

#[test]
fn hybrid_machine_without_l3_on_the_slow_cores() {
    // CPUs 0-3 are two fast cores behind an L3; 4 and 5 are slow cores with none.
    let cpus = vec![
        raw(0, 0, 0, Some(0), Some(0)),
        raw(1, 0, 0, Some(0), Some(0)),
        raw(2, 2, 0, Some(0), Some(0)),
        raw(3, 2, 0, Some(0), Some(0)),
        raw(4, 4, 0, None, Some(0)),
        raw(5, 5, 0, None, Some(0)),
    ];
    let machine = Machine::assemble(cpus, 6, 0, Vec::new());
    assert_eq!(machine.processor_kind(), DomainKind::Cache);
    let caches = machine.domains(DomainKind::Cache);
    assert_eq!(caches.count(), 2);
    assert_eq!(caches.of(CpuId(4)), DomainIndex(1));
    assert_eq!(caches.of(CpuId(5)), DomainIndex(1));
    let cores = machine.domains(DomainKind::Core);
    assert!(cores.is_shared(cores.of(CpuId(0))));
    assert!(!cores.is_shared(cores.of(CpuId(4))));
}

#[test]
fn same_number_twice_counts_once() {
    let machine = Machine::assemble(vec![raw(1, 1, 0, None, None); 3], 0, 0, Vec::new());
    assert_eq!(machine.cpus().len(), 1);
    assert_eq!(machine.table_len(), 2);
}

#[test]
fn this_machine() {
    let machine = Machine::detect();
    println!("{machine} {:?}", machine.remarks());
    assert_eq!(machine.cpus().len(), crate::affinity::allowed().unwrap().len());
    for kind in [DomainKind::Core, DomainKind::Cache, DomainKind::Package, DomainKind::Node] {
        let map = machine.domains(kind);
        assert_eq!(map.count(), machine.count(kind));
        for cpu in machine.cpus() {
            assert_eq!(map.of(cpu.id), cpu.domain(kind));
            assert!(cpu.id.0 < machine.table_len());
        }
    }
    assert!(machine.count(DomainKind::Core) >= machine.count(DomainKind::Package));
}

#[test]
fn a_pinned_thread_sees_one_cpu() {
    crate::test_support::on_each_cpu(|cpu| {
        let machine = Machine::detect();
        assert_eq!(order(&machine), [cpu.0]);
        assert_eq!(machine.domains(DomainKind::Core).count(), 1);
    });
}

#[test]
fn an_empty_root_still_gives_a_machine() {
    let root = tempfile::tempdir().unwrap();
    let machine = Machine::detect_in(root.path(), Err(Error("no affinity".into())));
    assert_eq!(order(&machine), [0]);
    assert_eq!(machine.quota(), None);
    assert_eq!(machine.remarks().len(), 2);
    // The affinity alone is enough for a list.
    let machine = Machine::detect_in(root.path(), Ok(vec![CpuId(2), CpuId(5)]));
    assert_eq!(order(&machine), [2, 5]);
    assert_eq!(machine.table_len(), 6);
    assert_eq!(machine.count(DomainKind::Core), 2);
    assert_eq!(machine.count(DomainKind::Package), 1);
}

#[test]
fn the_quota_is_part_of_the_machine() {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("proc/self/cgroup", "0::/\n");
    write("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    write("sys/fs/cgroup/cpu.max", "150000 100000\n");
    let machine = Machine::detect_in(root.path(), Ok(vec![CpuId(0)]));
    assert_eq!(machine.quota(), Some(1.5));
    assert!(machine.to_string().ends_with("quota 1.5 CPUs"), "{machine}");
}
