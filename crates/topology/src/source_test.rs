use super::*;
use crate::domain::DomainKind;
use crate::machine::Machine;
use crate::test_support;
use std::cell::Cell;

/// Run by the tests below in a process of its own.
#[test]
#[ignore = "not a test: prints the source of a child process"]
fn print_source() {
    let source = CpuSource::detect();
    let worker = std::thread::spawn(move || source.current()).join().unwrap();
    assert!(Machine::detect().cpu(worker).is_some());
    println!("\nsource: {source}");
}

fn source_with_tunables(value: &str) -> String {
    let printed = test_support::in_child("source::test::print_source", "GLIBC_TUNABLES", value);
    let line = printed.lines().find_map(|line| line.strip_prefix("source: "));
    line.unwrap_or_else(|| panic!("no source in {printed:?}")).to_owned()
}

#[test]
fn switching_rseq_off_is_noticed_and_named() {
    match Rseq::find() {
        Ok(_) => {
            let source = source_with_tunables("glibc.pthread.rseq=0");
            assert_eq!(source, "getcpu (rseq disabled by GLIBC_TUNABLES)");
            assert_eq!(source_with_tunables("glibc.pthread.rseq=1"), "rseq");
        }
        Err(reason) => skips::skip!("{reason}"),
    }
}

#[test]
fn the_best_source_comes_without_a_reason() {
    let source = CpuSource::detect();
    println!("{source:?}");
    assert_eq!(source.name() == "rseq", source.reason().is_none());
    assert_eq!(CpuSource::getcpu().name(), "getcpu");
    assert!(CpuSource::getcpu().reason().is_some());
}

#[test]
fn all_sources_name_the_cpu_a_thread_is_pinned_to() {
    test_support::on_each_cpu(|cpu| {
        for source in [CpuSource::detect(), CpuSource::getcpu()] {
            assert!((0..1000).all(|_| source.current() == cpu), "{source}");
        }
    });
}

/// The source is made on one thread and used on others, which have areas of their own.
#[test]
fn one_source_serves_all_threads() {
    let source = CpuSource::detect();
    let machine = Machine::detect();
    let cores = machine.domains(DomainKind::Core);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    let cpu = source.current();
                    assert!(machine.cpu(cpu).is_some(), "{cpu}");
                    assert!(cores.of(cpu).index() < cores.count());
                }
            });
        }
    });
}

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_pointer_width = "64"))]
#[test]
fn a_thread_without_an_area_asks_getcpu() {
    test_support::on_each_cpu(|cpu| {
        for unregistered in [-1, -2] {
            let rseq = crate::rseq::test::reading_from(&unregistered);
            let source = CpuSource { way: Way::Rseq(rseq), reason: None };
            assert_eq!(source.current(), cpu);
        }
    });
}

/// The kernel leaves the id of an area that it has unregistered at 0, which another thread has.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_pointer_width = "64"))]
#[test]
fn a_thread_without_an_area_has_no_id() {
    let read = |cpu_id: i32| {
        // `struct rseq`: cpu_id at 4, mm_cid at 24.
        let area = [0, cpu_id, 0, 0, 0, 0, 5];
        let source =
            CpuSource { way: Way::Concurrency(crate::rseq::test::reading_from(&area[6])), reason: None };
        source.current()
    };
    assert_eq!([read(3), read(-1), read(-2)], [CpuId(5), NO_ID, NO_ID]);
}

#[test]
fn a_test_can_say_which_cpu_it_is() {
    thread_local!(static CPU: Cell<u32> = const { Cell::new(0) });
    let source = CpuSource::fixed(|| CpuId(CPU.get()));
    assert_eq!(source.name(), "fixed");
    assert_eq!(source.current(), CpuId(0));
    CPU.set(77);
    assert_eq!(source.current(), CpuId(77));
    CPU.set(u32::MAX);
    let cores = Machine::fake(crate::fake::Fake { packages: 1, cores: 3, threads: 1, holes: vec![] })
        .domains(DomainKind::Core);
    assert!(cores.of(source.current()).index() < 3);
}
