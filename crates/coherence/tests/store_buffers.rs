//! What plain stores cost whose lines are elsewhere, by hand. The numbers are those of the machine in `support`, in picoseconds.

mod support;

use std::cell::Cell;
use support::accesses::{DRAIN, HOLD, LOAD, MEMORY, MICROSECOND, NEAR, STORE, at, load, locked, store, took};
use support::machine;
use terrace_coherence::programs::Line;
use terrace_coherence::simulation::{Simulation, lock_step, now, store_object, work};
use terrace_coherence::watched::{AtomicU64, Ordering, fence};

/// What a thread on CPU 1 takes whose stores meet a line that a locked instruction has just called away, with so many places in its buffer.
fn stores_while_the_line_is_elsewhere(places: u32, steps: impl Fn(&AtomicU64) + Copy) -> u64 {
    let mut machine = machine([1, 1, 3, 1], "mesi", "");
    machine.costs.store_buffer = places;
    let word = Line(AtomicU64::new(0));
    let took_then = Cell::new(0);
    let mut simulation = Simulation::new(&machine, 1, 0, 0);
    simulation.spawn(2, true, || _ = locked(&word.0)).unwrap();
    simulation
        .spawn(0, true, || {
            at(MICROSECOND);
            locked(&word.0);
        })
        .unwrap();
    simulation
        .spawn(1, true, || {
            at(MICROSECOND + 1);
            took_then.set(took(|| steps(&word.0)));
        })
        .unwrap();
    simulation.run();
    took_then.get()
}

/// From the first store until the line has come, which is free when it has gone to CPU 0 and its locked instruction is over.
const UNTIL_IT_COMES: u64 = NEAR + HOLD - 1 + NEAR;

#[test]
fn a_full_store_buffer_has_the_thread_wait_for_its_oldest_store() {
    let mut machine = machine([1, 1, 1, 1], "mesi", "");
    machine.costs.store_buffer = 2;
    let words: [Line<AtomicU64>; 4] = Default::default();
    let mut simulation = Simulation::new(&machine, 1, 0, 0);
    let body = || {
        let begin = now();
        let times: Vec<u64> = words.iter().map(|word| store(&word.0)).collect();
        // The first two fill it; the third waits for the first one's line, and when it is done the second has arrived too.
        assert_eq!(times, [STORE, STORE, MEMORY - 2 * STORE + STORE, STORE]);
        fence(Ordering::SeqCst);
        // The last store set out then.
        assert_eq!(now() - begin, STORE + MEMORY + MEMORY + DRAIN);
    };
    simulation.spawn(0, true, body).unwrap();
    simulation.run();
}

#[test]
fn a_thread_goes_on_while_its_stores_wait_for_their_line() {
    let took = stores_while_the_line_is_elsewhere(8, |word| {
        for _ in 0..8 {
            assert_eq!(store(word), STORE);
            assert_eq!(load(word), LOAD, "its own value, from its store buffer");
        }
    });
    assert_eq!(took, 8 * (STORE + LOAD));
    let took = stores_while_the_line_is_elsewhere(8, |word| {
        store(word);
        store(word);
        fence(Ordering::SeqCst);
    });
    assert_eq!(took, UNTIL_IT_COMES + DRAIN, "the line takes both of them");
}

#[test]
fn a_full_store_buffer_has_the_thread_wait_for_a_line_that_others_have() {
    let took = stores_while_the_line_is_elsewhere(2, |word| {
        let times = [store(word), store(word), store(word), store(word)];
        // Both places are free when it comes.
        assert_eq!(times, [STORE, STORE, UNTIL_IT_COMES - 2 * STORE + STORE, STORE]);
    });
    assert_eq!(took, UNTIL_IT_COMES + 2 * STORE);
    // A new object's first store waits for room as well.
    let took = stores_while_the_line_is_elsewhere(1, |word| {
        store(word);
        store_object(1 << 20);
    });
    assert_eq!(took, UNTIL_IT_COMES + STORE);
}

#[test]
fn a_load_of_another_word_waits_for_the_line_that_a_store_has_asked_for() {
    let machine = machine([1, 1, 3, 1], "mesi", "");
    let words = Line([AtomicU64::new(0), AtomicU64::new(0)]);
    let mut simulation = Simulation::new(&machine, 1, 0, 0);
    let lock_at = |moment| {
        at(moment);
        locked(&words.0[0]);
    };
    simulation.spawn(2, true, || lock_at(0)).unwrap();
    simulation.spawn(0, true, || lock_at(MICROSECOND)).unwrap();
    simulation
        .spawn(1, true, || {
            at(MICROSECOND + 1);
            let both = took(|| {
                store(&words.0[0]);
                load(&words.0[1]);
            });
            assert_eq!(both, UNTIL_IT_COMES);
        })
        .unwrap();
    assert_eq!(simulation.run().traffic.total().moves(), 3, "it comes to each core once");
}

#[test]
fn a_fence_waits_for_the_last_of_several_lines() {
    let machine = machine([1, 1, 4, 1], "mesi", "");
    let words: [Line<AtomicU64>; 2] = Default::default();
    let mut simulation = Simulation::new(&machine, 1, 0, 0);
    let lock_at = |word: &AtomicU64, moment| {
        at(moment);
        locked(word);
    };
    let (one, other) = (&words[0].0, &words[1].0);
    simulation
        .spawn(3, true, move || {
            lock_at(one, 0);
            lock_at(other, 0);
        })
        .unwrap();
    // The first store's line is free 20 ns after the second's.
    simulation.spawn(0, true, move || lock_at(other, MICROSECOND)).unwrap();
    simulation.spawn(2, true, move || lock_at(one, MICROSECOND + 20_000)).unwrap();
    simulation
        .spawn(1, true, move || {
            at(MICROSECOND + 20_001);
            let all = took(|| {
                store(one);
                store(other);
                fence(Ordering::SeqCst);
            });
            assert_eq!(all, UNTIL_IT_COMES + DRAIN);
        })
        .unwrap();
    simulation.run();
}

#[test]
fn a_store_has_its_place_until_it_may_be_written() {
    let mut machine = machine([1, 1, 1, 1], "mesi", "");
    machine.costs.store_buffer = 2;
    let word = Line(AtomicU64::new(0));
    let mut simulation = Simulation::new(&machine, 1, 0, 0);
    let body = || {
        locked(&word.0);
        let times: Vec<u64> = (0..4).map(|_| store(&word.0)).collect();
        assert_eq!(times, [STORE, STORE, DRAIN - 2 * STORE + STORE, STORE]);
        // They need not be waited for twice: draining is what a fence costs.
        assert_eq!(took(|| fence(Ordering::SeqCst)), DRAIN);
    };
    simulation.spawn(0, true, body).unwrap();
    simulation.run();
}

#[test]
fn a_sibling_whose_store_buffer_is_full_leaves_the_core_to_the_other() {
    let mut machine = machine([1, 1, 3, 2], "mesi", "");
    machine.costs.store_buffer = 1;
    let word = Line(AtomicU64::new(0));
    let mut simulation = Simulation::new(&machine, 1, 0, 0);
    simulation.spawn(4, true, || _ = locked(&word.0)).unwrap();
    simulation
        .spawn(0, true, || {
            at(MICROSECOND);
            locked(&word.0);
        })
        .unwrap();
    simulation
        .spawn(2, true, || {
            at(MICROSECOND + 1);
            store(&word.0);
            assert_eq!(store(&word.0), UNTIL_IT_COMES - STORE + STORE);
        })
        .unwrap();
    simulation
        .spawn(3, true, || {
            // While the line is elsewhere, and while it is on its way.
            for moment in [10_000, 40_000] {
                at(MICROSECOND + moment);
                lock_step();
                assert_eq!(took(|| work(5_000)), 5_000, "{moment}");
            }
        })
        .unwrap();
    simulation.run();
}
