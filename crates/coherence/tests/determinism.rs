//! The same seed gives the same result, down to the last transfer: again, in another process, wherever that has its memory.

mod support;

use std::fmt::Write as _;
use std::process::Command;
use support::{machine, number};
use terrace_coherence::machine::Machine;
use terrace_coherence::programs::Options;
use terrace_coherence::programs::allocate::{
    self, Allocation, Collector, Domain, Hierarchy, Mutator, Rank, Tlab, UsedUp,
};
use terrace_coherence::programs::counters::{self, Increment, Layout};
use terrace_coherence::simulation::{Simulation, lock_step, random, work};
use terrace_coherence::watched::{AtomicU64, Ordering};

/// Tells this binary that it is the other process.
const CHILD: &str = "TERRACE_DETERMINISM_SEED";
const MARK: &str = "== results ==";

fn machines() -> [Machine; 2] {
    let busy = number("quantum", 2000.0, "ns")
        + &number("switch", 300.0, "ns")
        + &number("migration_rate", 200_000.0, "per_second");
    [machine([2, 2, 2, 2], "mesif", &busy), machine([1, 2, 4, 1], "moesi", "")]
}

/// Everything that programs say, as text.
fn results(seed: u64) -> String {
    let mut text = String::new();
    let rank = |domain, bytes| Rank { domain, bytes };
    let hierarchies = [
        Hierarchy::None,
        Hierarchy::Levels(vec![rank(Domain::Core, 4 << 10), rank(Domain::Package, 16 << 10)]),
        Hierarchy::Paper(rank(Domain::Cluster, 8 << 10), UsedUp::NextBuffer),
    ];
    for machine in &machines() {
        let options = Options { threads: 20, pinned: false, seed, length: 40_000_000, events: 10_000 };
        for increment in [Increment::Add, Increment::CompareExchange] {
            let run = counters::run(machine, increment, Layout::Shared, &options).unwrap();
            writeln!(text, "{run:?}").unwrap();
        }
        for hierarchy in hierarchies.clone() {
            for tlab in [Tlab::None, Tlab::Bytes(1 << 10)] {
                let allocation = Allocation {
                    tlab,
                    hierarchy: hierarchy.clone(),
                    eden: 64 << 10,
                    collector: Collector::Parallel,
                    mutator: Mutator {
                        sizes: vec![(24, 5.0), (160, 1.0)],
                        ..Mutator::constant(0, 20.0, 0.1)
                    },
                    refill_cycles: 100.0,
                    heap_cycles: 50.0.into(),
                    pause: 1_000_000,
                };
                writeln!(text, "{:?}", allocate::run(machine, &allocation, &options).unwrap()).unwrap();
            }
        }
    }
    text
}

#[test]
fn the_same_seed_gives_the_same_result_and_another_another() {
    let first = results(5);
    assert!(first == results(5), "twice in a process");
    assert!(first != results(6), "a seed matters");
}

#[test]
fn other_processes_give_the_same_result() {
    if let Ok(seed) = std::env::var(CHILD) {
        println!("{MARK}\n{}{MARK}", results(seed.parse().unwrap()));
        return;
    }
    let child = || {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "other_processes_give_the_same_result", "--nocapture", "--test-threads=1"])
            .env(CHILD, "5")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.split(MARK).nth(1).expect("the other process says what it got").trim_start().to_owned()
    };
    let own = results(5);
    assert!(own.contains("hits"));
    // Each has its memory elsewhere.
    assert!(child() == own && child() == own);
}

/// Neighbouring words, wherever the allocator puts them: what a body reads from them must not depend on it if they are on lines of
/// their own, as [`terrace_coherence::programs::Line`] has them.
#[test]
fn where_words_lie_does_not_matter() {
    let machine = machine([1, 2, 2, 1], "mesi", "");
    let run = |holes: usize| {
        let _before = vec![0_u8; 8 * holes];
        let words: Vec<Box<terrace_coherence::programs::Line<AtomicU64>>> = (0..5)
            .map(|_| {
                std::hint::black_box(vec![0_u8; 40 * holes]);
                Box::default()
            })
            .collect();
        let mut simulation = Simulation::new(&machine, 3, 0, 100_000);
        for cpu in 0..4 {
            let words = &words;
            let body = move || {
                for _ in 0..50 {
                    words[random() as usize % words.len()].0.fetch_add(1, Ordering::Relaxed);
                    work(1_000);
                    lock_step();
                }
            };
            simulation.spawn(cpu, true, body).unwrap();
        }
        format!("{:?}", simulation.run())
    };
    let first = run(0);
    assert!((1..20).all(|holes| run(holes) == first));
}
