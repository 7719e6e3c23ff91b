use super::*;
use crate::domain::DomainKind;
use crate::id::DomainIndex;
use crate::machine::Machine;
use tempfile::TempDir;

/// A tree laid out as `/sys`.
pub(crate) struct FakeTree(TempDir);

impl FakeTree {
    pub(crate) fn new() -> FakeTree {
        FakeTree(tempfile::tempdir().unwrap())
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join("devices/system").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{text}\n")).unwrap();
    }

    pub(crate) fn cpu(&self, id: u32, package: i32, siblings: &str) {
        self.write(&format!("cpu/cpu{id}/topology/core_id"), "0");
        self.write(&format!("cpu/cpu{id}/topology/physical_package_id"), &package.to_string());
        self.write(&format!("cpu/cpu{id}/topology/thread_siblings_list"), siblings);
    }

    pub(crate) fn cache(&self, id: u32, index: u32, level: &str, kind: &str, shared: &str) {
        let folder = format!("cpu/cpu{id}/cache/index{index}");
        self.write(&format!("{folder}/level"), level);
        self.write(&format!("{folder}/type"), kind);
        self.write(&format!("{folder}/shared_cpu_list"), shared);
    }

    pub(crate) fn machine(&self, allowed: Option<&[u32]>) -> Machine {
        let allowed: Option<Vec<CpuId>> = allowed.map(|list| list.iter().copied().map(CpuId).collect());
        Machine::from_sysfs(self.0.path(), allowed.as_deref()).unwrap()
    }
}

pub(crate) fn order(machine: &Machine) -> Vec<u32> {
    machine.cpus().iter().map(|cpu| cpu.id.0).collect()
}

/// Two packages, each with two caches of two cores of two threads: 16 CPUs, siblings at +8.
fn server() -> FakeTree {
    let tree = FakeTree::new();
    tree.write("cpu/possible", "0-31");
    tree.write("cpu/online", "0-15");
    for id in 0..16 {
        let core = id % 8;
        tree.cpu(id, (core / 4) as i32, &format!("{core},{}", core + 8));
        tree.cache(id, 0, "1", "Data", &format!("{core},{}", core + 8));
        tree.cache(id, 1, "1", "Instruction", &format!("{core},{}", core + 8));
        tree.cache(id, 2, "2", "Unified", &format!("{core},{}", core + 8));
        let first = core / 2 * 2;
        let shared = format!("{first}-{},{}-{}", first + 1, first + 8, first + 9);
        tree.cache(id, 3, "3", "Unified", &shared);
    }
    tree.write("node/node0/cpulist", "0-3,8-11");
    tree.write("node/node1/cpulist", "4-7,12-15");
    tree.write("node/node2/cpulist", "");
    tree.write("node/online", "0-2");
    tree
}

#[test]
fn server_with_everything() {
    let machine = server().machine(None);
    assert_eq!(machine.to_string(), "16 CPUs, 8 cores, 4 caches, 2 packages, 2 nodes");
    assert_eq!(order(&machine), [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]);
    assert_eq!(machine.table_len(), 32);
    assert_eq!(machine.processor_kind(), DomainKind::Cache);
    assert_eq!(machine.domains(DomainKind::Cache).of(CpuId(14)), DomainIndex(3));
    assert!(machine.remarks().is_empty());
}

#[test]
fn limited_by_affinity() {
    let machine = server().machine(Some(&[9, 5, 1, 15]));
    assert_eq!(machine.to_string(), "4 CPUs, 3 cores, 3 caches, 2 packages, 2 nodes");
    assert_eq!(order(&machine), [1, 9, 5, 15]);
    let cores = machine.domains(DomainKind::Core);
    assert_eq!(cores.of(CpuId(1)), cores.of(CpuId(9)));
    // The sibling of a CPU that is allowed, itself not allowed: valid, though not known.
    assert!(cores.of(CpuId(13)).index() < cores.count());
    // Widened far beyond what the kernel ever announced.
    assert!(cores.of(CpuId(4000)).index() < cores.count());
}

#[test]
fn an_offline_cpu_is_left_out_and_valid_when_it_comes_back() {
    let tree = FakeTree::new();
    tree.write("cpu/possible", "0-3");
    tree.write("cpu/online", "0-2");
    for id in 0..3 {
        tree.cpu(id, 0, &id.to_string());
    }
    tree.write("cpu/cpu3/online", "0");
    for allowed in [None, Some(&[0, 1, 2, 3][..])] {
        let machine = tree.machine(allowed);
        assert_eq!(order(&machine), [0, 1, 2]);
        assert_eq!(machine.table_len(), 4);
        let cores = machine.domains(DomainKind::Core);
        assert_eq!(cores.count(), 3);
        assert_eq!(cores.of(CpuId(3)), DomainIndex(0));
    }
    // Switched on: looking again finds it.
    tree.cpu(3, 0, "3");
    tree.write("cpu/online", "0-3");
    assert_eq!(order(&tree.machine(None)), [0, 1, 2, 3]);
}

#[test]
fn no_l3_and_no_nodes_fall_back_to_the_package() {
    // Two clusters with an L2 each, as on small Arm boards; firmware that does not know its package.
    let tree = FakeTree::new();
    tree.write("cpu/online", "0-5");
    for id in 0..6 {
        tree.cpu(id, -1, &id.to_string());
        tree.cache(id, 2, "2", "Unified", if id < 2 { "0-1" } else { "2-5" });
    }
    let machine = tree.machine(None);
    assert_eq!(machine.to_string(), "6 CPUs, 6 cores, 1 cache, 1 package, 1 node");
    assert_eq!(machine.processor_kind(), DomainKind::Package);
    assert!(machine.domains(DomainKind::Cache).any_shared());
}

#[test]
fn hybrid_machine_where_some_cores_have_no_l3() {
    let tree = FakeTree::new();
    tree.write("cpu/online", "0-3");
    tree.cpu(0, 0, "0-1");
    tree.cpu(1, 0, "0-1");
    tree.cpu(2, 0, "2");
    tree.cpu(3, 0, "3");
    tree.cache(0, 3, "3", "Unified", "0-1");
    tree.cache(1, 3, "3", "Unified", "0-1");
    tree.cache(2, 2, "2", "Unified", "2-3");
    let machine = tree.machine(None);
    assert_eq!(machine.to_string(), "4 CPUs, 3 cores, 2 caches, 1 package, 1 node");
    assert_eq!(machine.processor_kind(), DomainKind::Cache);
}

#[test]
fn no_topology_makes_every_cpu_a_core() {
    // gVisor shows the folders and lists, and nothing in them.
    let tree = FakeTree::new();
    tree.write("cpu/possible", "0-3");
    for id in 0..4 {
        std::fs::create_dir_all(tree.0.path().join(format!("devices/system/cpu/cpu{id}"))).unwrap();
    }
    for allowed in [None, Some(&[0, 1, 2, 3][..])] {
        let machine = tree.machine(allowed);
        assert_eq!(machine.to_string(), "4 CPUs, 4 cores, 1 cache, 1 package, 1 node");
        assert_eq!(machine.remarks().len(), 1);
        assert!(!machine.domains(DomainKind::Core).any_shared());
    }
}

#[test]
fn folders_stand_in_for_missing_lists() {
    let tree = FakeTree::new();
    tree.cpu(0, 0, "0");
    tree.cpu(7, 1, "7");
    tree.write("cpu/cpufreq/nothing", "");
    tree.write("cpu/cpu99999999999/nothing", "");
    let machine = tree.machine(None);
    assert_eq!(order(&machine), [0, 7]);
    assert_eq!(machine.table_len(), 8);
    assert_eq!(machine.count(DomainKind::Node), 2);
}

#[test]
fn core_numbers_stand_in_for_missing_siblings() {
    let tree = FakeTree::new();
    tree.write("cpu/online", "0-7");
    for id in 0..8 {
        tree.write(&format!("cpu/cpu{id}/topology/core_id"), &(id % 2).to_string());
        tree.write(&format!("cpu/cpu{id}/topology/physical_package_id"), &(id / 4).to_string());
    }
    let machine = tree.machine(None);
    assert_eq!(machine.count(DomainKind::Core), 4);
    assert_eq!(order(&machine), [0, 2, 1, 3, 4, 6, 5, 7]);
}

#[test]
fn garbage_is_as_good_as_nothing() {
    let tree = FakeTree::new();
    tree.write("cpu/possible", "all of them");
    tree.write("cpu/online", "0-4294967295");
    tree.write("cpu/present", "0-1");
    tree.cpu(0, 0, "7");
    tree.cpu(1, 0, "\u{1F980}");
    tree.cache(0, 3, "three", "", "0-1");
    tree.cache(1, 3, "3", "Unified", "1-");
    tree.write("node/nodeX/cpulist", "0-1");
    tree.write("node/node0/cpulist", "-1");
    let machine = tree.machine(None);
    // Both say core_id 0, and neither has a list of siblings that can be believed.
    assert_eq!(machine.to_string(), "2 CPUs, 1 core, 1 cache, 1 package, 1 node");
    assert_eq!(machine.table_len(), 2);
}

#[test]
fn nothing_at_all_is_an_error_with_a_remedy() {
    let tree = FakeTree::new();
    let error = Machine::from_sysfs(tree.0.path(), None).unwrap_err();
    assert!(error.to_string().contains("mount sysfs"), "{error}");
    assert!(Machine::from_sysfs(tree.0.path(), Some(&[])).is_err());
    assert!(Machine::from_sysfs(tree.0.path(), Some(&[CpuId(u32::MAX)])).is_err());
}

#[test]
fn long_files_are_read_whole_and_endless_ones_are_not() {
    let tree = FakeTree::new();
    let long: Vec<String> = (0..3000).map(|id| (2 * id).to_string()).collect();
    tree.write("cpu/online", &long.join(","));
    assert_eq!(order(&tree.machine(None)).len(), 3000);
    assert_eq!(read_text(Path::new("/dev/zero")), None);
    assert_eq!(read_text(tree.0.path()), None);
}
