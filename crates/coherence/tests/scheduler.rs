//! Threads that wait for each other, lose their CPU and move: nobody is lost, and nothing happens before its cause.

mod support;

use std::cell::{Cell, RefCell};
use support::{machine, number};
use terrace_coherence::simulation::{Number, Simulation, lock_step, now, over, park, this, unpark, work};
use terrace_coherence::watched::{AtomicU64, Ordering};

const SECOND: u64 = 1_000_000_000_000;
const MICROSECOND: u64 = 1_000_000;

#[test]
fn who_wakes_another_does_not_run_on_past_it() {
    let machine = machine([1, 1, 2, 1], "mesi", "");
    let word = AtomicU64::new(0);
    let moments = RefCell::new(Vec::new());
    let mut simulation = Simulation::new(&machine, 1, SECOND, 0);
    let access = |who: char| {
        lock_step();
        moments.borrow_mut().push((now(), who));
        word.fetch_add(1, Ordering::SeqCst);
    };
    simulation
        .spawn(0, true, || {
            park();
            (0..20).for_each(|_| access('b'));
        })
        .unwrap();
    simulation
        .spawn(1, true, || {
            work(MICROSECOND);
            unpark(Number(0));
            (0..20).for_each(|_| access('a'));
        })
        .unwrap();
    let outcome = simulation.run();
    let moments = moments.take();
    assert!(moments.is_sorted_by_key(|(moment, _)| *moment), "{moments:?}");
    assert_eq!(moments[0], (MICROSECOND, 'b'), "the woken thread goes on at the waker's moment");
    assert!(outcome.traffic.total().moves() > 2, "they take the line from each other");
}

#[test]
fn nobody_is_woken_before_the_moment_at_which_it_happens() {
    let machine = machine([1, 1, 2, 1], "mesi", "");
    let woken = Cell::new(0);
    let mut simulation = Simulation::new(&machine, 1, SECOND, 0);
    // The first one computes ahead of the second, which parks at an earlier moment, though later in the order of execution.
    simulation
        .spawn(0, true, || {
            work(10 * MICROSECOND);
            unpark(Number(1));
        })
        .unwrap();
    simulation
        .spawn(1, true, || {
            work(MICROSECOND);
            park();
            woken.set(now());
        })
        .unwrap();
    simulation.run();
    assert_eq!(woken.get(), 10 * MICROSECOND);
}

#[test]
fn a_thread_woken_while_it_waits_for_its_cpu_has_one_place_there() {
    let machine = machine([1, 1, 2, 1], "mesi", &number("quantum", 1000.0, "ns"));
    let (word, parked) = (AtomicU64::new(0), Cell::new(0_u32));
    let mut simulation = Simulation::new(&machine, 1, SECOND, 0);
    // Two share CPU 0, so that one of them always waits for it; the third wakes both again and again.
    for _ in 0..2 {
        simulation
            .spawn(0, true, || {
                for _ in 0..200 {
                    word.fetch_add(1, Ordering::SeqCst);
                    work(MICROSECOND / 4);
                }
                park();
                parked.set(parked.get() + 1);
            })
            .unwrap();
    }
    simulation
        .spawn(1, true, || {
            while parked.get() < 2 {
                lock_step();
                unpark(Number(0));
                unpark(Number(1));
                work(MICROSECOND / 3);
            }
        })
        .unwrap();
    let outcome = simulation.run();
    assert_eq!(word.peek(), 400);
    assert!(outcome.preemptions > 10, "they did lose the CPU to each other");
}

/// Threads that are moved a million times a second, where a switch takes longer than anything else.
fn all_get_somewhere(shape: [u32; 4], threads: u32, costs: &str) {
    let scheduler = number("migration_rate", 1e6, "per_second") + costs;
    let machine = machine(shape, "mesi", &scheduler);
    let word = AtomicU64::new(0);
    let mut simulation = Simulation::new(&machine, 1, SECOND, 0);
    for cpu in 0..threads {
        simulation
            .spawn(cpu, false, || {
                for _ in 0..50 {
                    word.fetch_add(1, Ordering::SeqCst);
                    work(MICROSECOND);
                }
            })
            .unwrap();
    }
    let outcome = simulation.run();
    assert_eq!(word.peek(), 50 * u64::from(threads));
    assert!(outcome.migrations > 20);
}

#[test]
fn moving_more_often_than_a_switch_takes_still_gets_somewhere() {
    all_get_somewhere([1, 1, 4, 1], 3, &number("switch", 1.0, "ms"));
}

#[test]
fn moving_threads_that_wait_for_their_cpu_still_get_somewhere() {
    let costs = number("switch", 1.0, "ms") + &number("quantum", 30.0, "ns");
    all_get_somewhere([1, 1, 2, 1], 24, &costs);
}

#[test]
fn a_wake_before_the_wait_is_kept_once() {
    let machine = machine([1, 1, 1, 1], "mesi", "");
    let mut simulation = Simulation::new(&machine, 1, SECOND, 0);
    simulation
        .spawn(0, true, || {
            unpark(this());
            unpark(this());
            park();
            assert!(!over());
        })
        .unwrap();
    simulation.run();
}

#[test]
#[should_panic(expected = "1 threads wait for ever")]
fn a_wait_for_nobody_is_told() {
    let machine = machine([1, 1, 2, 1], "mesi", "");
    let mut simulation = Simulation::new(&machine, 1, SECOND, 0);
    simulation.spawn(0, true, park).unwrap();
    simulation.spawn(1, true, || work(MICROSECOND)).unwrap();
    simulation.run();
}
