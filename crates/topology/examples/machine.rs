//! Prints the machine as Terrace sees it, and what looking at it costs.

use std::hint::black_box;
use std::time::Instant;
use topology::{CpuSource, DomainKind, Machine};

fn main() {
    let start = Instant::now();
    let machine = Machine::detect();
    let looked = start.elapsed();
    let start = Instant::now();
    let source = CpuSource::detect();
    let chosen = start.elapsed();
    let cores = machine.domains(DomainKind::Core);

    println!("machine:    {machine} (looked at in {looked:?})");
    println!("processor:  {}", machine.processor_kind().name());
    println!("CPU source: {source} (chosen in {chosen:?})");
    for remark in machine.remarks() {
        println!("remark:     {remark}");
    }
    for source in [source, CpuSource::getcpu()] {
        const TIMES: u32 = 1_000_000;
        let start = Instant::now();
        for _ in 0..TIMES {
            black_box(cores.of(source.current()));
        }
        println!(
            "{:<11} {:.1} ns for CPU and core",
            source.name(),
            start.elapsed().as_nanos() as f64 / f64::from(TIMES)
        );
    }
    for cpu in machine.cpus() {
        println!(
            "CPU {:>3}: core {:>3}, cache {:>2}, package {:>2}, node {:>2}",
            cpu.id, cpu.core, cpu.cache, cpu.package, cpu.node
        );
    }
}
