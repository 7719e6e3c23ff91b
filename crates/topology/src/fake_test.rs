use super::*;
use crate::domain::DomainKind;
use crate::id::CpuId;

#[test]
fn holes_leave_the_other_numbers_alone() {
    let machine = Machine::fake(Fake { packages: 4, cores: 10, threads: 2, holes: vec![3, 43, 47] });
    assert_eq!(machine.cpus().len(), 77);
    assert_eq!(machine.table_len(), 80);
    assert_eq!(machine.count(DomainKind::Core), 39);
    assert!(machine.cpu(CpuId(43)).is_none());
    let cores = machine.domains(DomainKind::Core);
    assert_eq!(cores.of(CpuId(4)), cores.of(CpuId(44)));
    assert_eq!(cores.of(CpuId(4)).0, 3);
}

#[test]
fn a_package_may_be_missing() {
    let machine = Machine::fake(Fake { packages: 3, cores: 2, threads: 1, holes: vec![2, 3] });
    assert_eq!(machine.count(DomainKind::Package), 2);
    assert_eq!(machine.domains(DomainKind::Node).of(CpuId(5)).0, 1);
}

#[test]
fn absurd_sizes_make_a_machine_too() {
    for (packages, cores, threads) in [(0, 1, 1), (1, 0, 1), (1, 1, 0), (0, 0, 0)] {
        let machine = Machine::fake(Fake { packages, cores, threads, holes: vec![] });
        assert_eq!(machine.cpus().len(), 1);
        assert_eq!(machine.domains(DomainKind::Core).of(CpuId(9)).0, 0);
    }
    let machine = Machine::fake(Fake { packages: 4, cores: 1 << 31, threads: 3, holes: vec![] });
    assert_eq!(machine.cpus().len(), CPU_LIMIT as usize);
    assert_eq!(machine.count(DomainKind::Core), CPU_LIMIT as usize);
}
