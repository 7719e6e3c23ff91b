//! 1,024 CPUs: programs come to their end there too.

mod support;

use support::machine;
use terrace_coherence::programs::Options;
use terrace_coherence::programs::allocate::{self, Allocation, Collector, Hierarchy, Mutator, Tlab};
use terrace_coherence::programs::counters::{self, Increment, Layout};

const OPTIONS: Options = Options { threads: 1024, pinned: true, seed: 3, length: 8_000_000, events: 0 };

#[test]
fn a_thousand_cpus_increment() {
    let machine = machine([8, 16, 8, 1], "moesi", "");
    assert_eq!(machine.shape.cpus(), 1024);
    for increment in [Increment::ExchangeAdd, Increment::CompareExchange] {
        let run = counters::run(&machine, increment, Layout::Shared, &OPTIONS).unwrap();
        // The line goes from core to core; whoever waits gets it in the end.
        assert!(run.operations >= 1024 && run.length >= OPTIONS.length, "{}", run.operations);
        assert!(run.outcome.traffic.total().moves() >= run.operations);
        // One at a time: an increment takes no less than the nearest transfer of the line, and no more than the farthest one.
        let (costs, each) = (&machine.costs, run.length / (run.operations + run.lost));
        let (least, most) = (costs.transfer_cluster, costs.transfer_remote + 2 * costs.locked);
        assert!(
            (least..=most).contains(&each),
            "{increment:?}: {each} ps of {least} to {most}, {} lost",
            run.lost
        );
        assert_eq!(run.lost > 0, increment == Increment::CompareExchange, "{}", run.lost);
    }
}

#[test]
fn a_thousand_cpus_allocate() {
    let machine = machine([8, 16, 8, 1], "mesif", "");
    let allocation = Allocation {
        tlab: Tlab::None,
        hierarchy: Hierarchy::None,
        eden: 64 << 20,
        collector: Collector::Parallel,
        mutator: Mutator::constant(64, 20.0, 0.1),
        refill_cycles: 100.0,
        heap_cycles: 50.0.into(),
        pause: 1_000_000,
    };
    let allocated = allocate::run(&machine, &allocation, &OPTIONS).unwrap();
    assert!(allocated.run.operations >= 1024 && allocated.bytes == allocated.run.operations * 64);
    // Every object moves the top of the heap, one at a time, and CPUs that wait for it lose most of their attempts.
    let run = &allocated.run;
    let each = run.length / (run.operations + run.lost);
    let (least, most) =
        (machine.costs.transfer_cluster, machine.costs.transfer_remote + 2 * machine.costs.locked);
    assert!((least..=most).contains(&each), "{each} ps of {least} to {most}, {} lost", run.lost);
}
