use super::*;
use crate::Machine;
use crate::fake::Fake;

fn big() -> Machine {
    Machine::fake(Fake { packages: 4, cores: 10, threads: 2, holes: vec![] })
}

const KINDS: [DomainKind; 5] =
    [DomainKind::Core, DomainKind::Cache, DomainKind::Package, DomainKind::Node, DomainKind::Machine];

#[test]
fn siblings_share_a_core_and_groups_are_nodes() {
    let cores = big().domains(DomainKind::Core);
    assert_eq!(cores.kind(), DomainKind::Core);
    assert_eq!(cores.count(), 40);
    assert!(cores.any_shared());
    for id in 0..40 {
        let core = cores.of(CpuId(id));
        assert_eq!(core, DomainIndex(id as u16));
        assert_eq!(cores.of(CpuId(id + 40)), core);
        assert_eq!(u32::from(cores.group(core)), id / 10);
        assert_eq!(cores.cpus(core), 2);
        assert!(cores.is_shared(core));
    }
}

#[test]
fn wider_kinds() {
    let packages = big().domains(DomainKind::Package);
    assert_eq!(packages.count(), 4);
    assert_eq!(packages.of(CpuId(19)), DomainIndex(1));
    assert_eq!(packages.of(CpuId(59)), DomainIndex(1));
    assert_ne!(packages.group(DomainIndex(0)), packages.group(DomainIndex(1)));
    let whole = big().domains(DomainKind::Machine);
    assert_eq!((whole.count(), whole.of(CpuId(79)), whole.cpus(DomainIndex(0))), (1, DomainIndex(0), 80));
}

#[test]
fn a_core_with_one_thread_is_not_shared() {
    let machine = Machine::fake(Fake { packages: 1, cores: 4, threads: 1, holes: vec![] });
    assert!(!machine.domains(DomainKind::Core).any_shared());
    assert!(machine.domains(DomainKind::Package).any_shared());
    // Half of a core switched off: that one is no longer shared, the others are.
    let machine = Machine::fake(Fake { packages: 1, cores: 4, threads: 2, holes: vec![5] });
    let cores = machine.domains(DomainKind::Core);
    assert!(cores.any_shared());
    assert!(!cores.is_shared(cores.of(CpuId(1))));
    assert!(cores.is_shared(cores.of(CpuId(2))));
}

#[test]
fn any_number_gives_a_valid_domain() {
    for holes in [vec![], vec![0, 1, 2, 41, 79], (0..79).collect()] {
        let machine = Machine::fake(Fake { packages: 4, cores: 10, threads: 2, holes });
        for kind in KINDS {
            let map = machine.domains(kind);
            for id in (0..200).chain([CPU_TOO_BIG, i32::MAX as u32, u32::MAX - 1, u32::MAX]) {
                assert!(map.of(CpuId(id)).index() < map.count(), "{kind:?} {id}");
            }
        }
    }
}

const CPU_TOO_BIG: u32 = crate::id::CPU_LIMIT;

#[test]
fn a_cpu_that_turns_up_later_is_spread() {
    let machine = Machine::fake(Fake { packages: 1, cores: 4, threads: 1, holes: vec![3] });
    let cores = machine.domains(DomainKind::Core);
    assert_eq!(cores.count(), 3);
    // Inside the table, but off when the machine was looked at.
    assert_eq!(cores.of(CpuId(3)), DomainIndex(0));
    // Beyond the table.
    assert_eq!(cores.of(CpuId(4)), DomainIndex(1));
    assert_eq!(cores.of(CpuId(1000)), DomainIndex(1));
}

#[test]
fn an_index_of_another_map_is_harmless() {
    let map = big().domains(DomainKind::Package);
    assert_eq!(map.group(DomainIndex(u16::MAX)), 0);
    assert!(!map.is_shared(DomainIndex(u16::MAX)));
}
