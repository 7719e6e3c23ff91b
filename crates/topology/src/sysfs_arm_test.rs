//! Machines with Arm cores: one hardware thread each, clusters, and often nothing said of an L3 cache.

use super::test::{FakeTree, order};
use crate::domain::DomainKind;
use crate::id::CpuId;

impl FakeTree {
    fn clusters(&self, cpus: std::ops::Range<u32>, size: u32) {
        for id in cpus {
            let first = id / size * size;
            let list = if size == 1 { id.to_string() } else { format!("{first}-{}", first + size - 1) };
            self.write(&format!("cpu/cpu{id}/topology/cluster_cpus_list"), &list);
            self.write(&format!("cpu/cpu{id}/topology/cluster_id"), &first.to_string());
        }
    }
}

#[test]
fn sixty_four_cores_behind_one_cache() {
    // As a Graviton tells: clusters of one CPU, one L3 cache without a number, one node.
    for l3 in [true, false] {
        let tree = FakeTree::new();
        tree.write("cpu/possible", "0-63");
        tree.write("cpu/online", "0-63");
        for id in 0..64 {
            tree.cpu(id, 0, &id.to_string());
            tree.cache(id, 0, "1", "Data", &id.to_string());
            tree.cache(id, 1, "1", "Instruction", &id.to_string());
            tree.cache(id, 2, "2", "Unified", &id.to_string());
            if l3 {
                tree.cache(id, 3, "3", "Unified", "0-63");
            }
        }
        tree.clusters(0..64, 1);
        tree.write("node/node0/cpulist", "0-63");
        let machine = tree.machine(None);
        assert_eq!(machine.to_string(), "64 CPUs, 64 cores, 1 cache, 1 package, 1 node");
        assert_eq!(machine.processor_kind(), DomainKind::Package);
        let cores = machine.domains(DomainKind::Core);
        assert!(!cores.any_shared());
        assert_eq!(order(&machine), (0..64).collect::<Vec<u32>>());
        assert!(machine.remarks().is_empty());
    }
}

#[test]
fn two_packages_of_eighty_cores_in_pairs() {
    // As an Ampere Altra tells: pairs share what looks for lines in other caches, and no cache; firmware numbers packages as it likes.
    let tree = FakeTree::new();
    tree.write("cpu/possible", "0-159");
    tree.write("cpu/online", "0-159");
    for id in 0..160 {
        tree.cpu(id, if id < 80 { 36 } else { 5156 }, &id.to_string());
        tree.cache(id, 2, "2", "Unified", &id.to_string());
    }
    tree.clusters(0..160, 2);
    tree.write("node/node0/cpulist", "0-79");
    tree.write("node/node1/cpulist", "80-159");
    let machine = tree.machine(None);
    assert_eq!(machine.to_string(), "160 CPUs, 160 cores, 2 caches, 2 packages, 2 nodes");
    assert_eq!(machine.processor_kind(), DomainKind::Package);
    let cores = machine.domains(DomainKind::Core);
    assert!(!cores.any_shared(), "a cluster is no core");
    assert_ne!(cores.group(cores.of(CpuId(79))), cores.group(cores.of(CpuId(80))));
}

#[test]
fn cores_of_a_cluster_are_next_to_each_other() {
    // Large and small cores, numbered alternately: their clusters share an L2 cache each, and there is no L3.
    let tree = FakeTree::new();
    tree.write("cpu/online", "0-7");
    for id in 0..8 {
        tree.cpu(id, 0, &id.to_string());
        let of_its_kind = if id % 2 == 0 { "0,2,4,6" } else { "1,3,5,7" };
        tree.cache(id, 2, "2", "Unified", of_its_kind);
        tree.write(&format!("cpu/cpu{id}/topology/cluster_cpus_list"), of_its_kind);
    }
    let machine = tree.machine(None);
    assert_eq!(machine.to_string(), "8 CPUs, 8 cores, 1 cache, 1 package, 1 node");
    assert_eq!(order(&machine), [0, 2, 4, 6, 1, 3, 5, 7]);
    // Some of them taken away: the others keep their places.
    assert_eq!(order(&tree.machine(Some(&[1, 2, 3, 6]))), [2, 6, 1, 3]);
}

#[test]
fn clusters_that_cannot_be_believed_are_none() {
    let tree = FakeTree::new();
    tree.write("cpu/online", "0-3");
    for (id, list) in [(0, "2-3"), (1, ""), (2, "all"), (3, "4294967295")] {
        tree.cpu(id, 0, &id.to_string());
        tree.write(&format!("cpu/cpu{id}/topology/cluster_cpus_list"), list);
    }
    assert_eq!(order(&tree.machine(None)), [0, 1, 2, 3]);
}
