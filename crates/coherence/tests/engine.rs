//! The floor under a simulation's speed: the order of the threads' turns and the switches between their stacks, without any line.

use std::cell::Cell;
use std::fs;
use terrace_coherence::machine::Machine;
use terrace_coherence::simulation::{Simulation, SimulationResult, lock_step, over, random, work};

/// Threads that do nothing but wait for their turns: how many turns there were.
fn turns(machine: &Machine, threads: u32, length: u64) -> (u64, SimulationResult) {
    let count = Cell::new(0_u64);
    let mut simulation = Simulation::new(machine, 1, length, 0);
    for thread in 0..threads {
        let count = &count;
        let body = move || {
            while !over() {
                // As far apart as the accesses of threads that wait for a line: the order changes each time.
                work(10_000 + random() % 10_000);
                lock_step();
                count.set(count.get() + 1);
            }
        };
        simulation.spawn(thread, true, body).unwrap();
    }
    let result = simulation.run();
    (count.get(), result)
}

/// Time of this thread on a CPU, in nanoseconds.
fn on_cpu() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanoseconds| nanoseconds.parse().ok()).unwrap_or(0)
}

#[test]
fn turns_are_taken_by_all_threads_alike_and_no_line_moves() {
    let machine = Machine::named("epyc-9654-2x96").unwrap();
    let (count, result) = turns(&machine, 8, 10_000_000);
    // 10 us, by 8 threads, in steps of 10 to 20 ns.
    assert!((8 * 500..8 * 1000).contains(&count), "{count}");
    assert_eq!(result.traffic.total().moves(), 0);
}

#[test]
#[ignore = "measures: run it alone, with --release --nocapture"]
fn the_floor() {
    let machine = Machine::named("epyc-9654-2x96").unwrap();
    for threads in [4, 40, 192] {
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let before = on_cpu();
            let (count, _) = turns(&machine, threads, 20_000_000_000 / u64::from(threads));
            best = best.min((on_cpu() - before) as f64 / count as f64);
        }
        println!("{threads} threads: {best:.1} ns a turn, {:.1} M turns/s", 1e3 / best);
    }
}
