//! A simulation that ends before its time leaves nothing behind: neither a watcher, nor a world, nor what its threads held.

mod support;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::machine;
use terrace_coherence::simulation::{Number, Simulation, lock_step, now, over, park, store_object, unpark};
use terrace_coherence::watched::{AtomicU64, Ordering};

/// Counts what is dropped.
struct Held<'a>(&'a Cell<u32>);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// So many increments by two threads, on two CPUs.
fn increments() -> (u64, u64) {
    let machine = machine([1, 1, 2, 1], "mesif", "");
    let word = AtomicU64::new(0);
    let mut simulation = Simulation::new(&machine, 7, 10_000_000, 0);
    for cpu in 0..2 {
        let body = || {
            while !over() {
                word.fetch_add(1, Ordering::SeqCst);
            }
        };
        simulation.spawn(cpu, true, body).unwrap();
    }
    let outcome = simulation.run();
    (word.peek(), outcome.end)
}

#[test]
fn a_body_that_panics_takes_the_others_with_it_and_nothing_else() {
    let before = increments();
    let machine = machine([1, 1, 2, 1], "mesif", "");
    let (word, dropped) = (AtomicU64::new(0), Cell::new(0));
    let result = catch_unwind(AssertUnwindSafe(|| {
        let mut simulation = Simulation::new(&machine, 7, 1_000_000, 0);
        for cpu in 0..4 {
            let (word, held) = (&word, Held(&dropped));
            let body = move || {
                let _held = held;
                if cpu == 2 {
                    park();
                }
                while cpu != 1 || word.fetch_add(1, Ordering::SeqCst) < 20 {
                    word.fetch_add(1, Ordering::SeqCst);
                }
                panic!("of the body");
            };
            simulation.spawn(cpu, true, body).unwrap();
        }
        simulation.run();
    }));
    let payload = result.expect_err("the panic goes on to whoever runs the simulation");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"of the body"));
    assert_eq!(dropped.get(), 4, "what suspended threads held is dropped");
    // Nobody watches any more.
    let value = word.load(Ordering::SeqCst);
    assert_eq!(word.fetch_add(1, Ordering::SeqCst), value);
    assert!(catch_unwind(now).is_err(), "no simulated thread is current");
    assert_eq!(increments(), before, "later simulations are as before");
}

#[test]
fn a_simulation_that_is_never_run_drops_what_its_threads_were_given() {
    let machine = machine([1, 1, 2, 1], "mesif", "");
    let dropped = Cell::new(0);
    let mut simulation = Simulation::new(&machine, 7, 1_000_000, 0);
    for cpu in 0..3 {
        let held = Held(&dropped);
        simulation.spawn(cpu, true, move || drop(held)).unwrap();
    }
    drop(simulation);
    assert_eq!(dropped.get(), 3);
}

#[test]
fn a_simulation_inside_a_simulated_thread_disturbs_nothing() {
    let alone = increments();
    let machine = machine([1, 1, 2, 1], "mesif", "");
    let (word, inner) = (AtomicU64::new(0), Cell::new((0, 0)));
    let mut simulation = Simulation::new(&machine, 7, 1_000_000, 0);
    let body = || {
        let before = now();
        inner.set(increments());
        assert_eq!(now(), before, "the other simulation has a time of its own");
        word.fetch_add(1, Ordering::SeqCst);
        assert!(now() > before);
    };
    simulation.spawn(0, true, body).unwrap();
    let outcome = simulation.run();
    assert_eq!(inner.get(), alone);
    assert_eq!(outcome.traffic.total().moves(), 1);
}

/// Touches the simulated memory when it is dropped.
struct Touching<'a>(&'a AtomicU64);

impl Drop for Touching<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn what_is_dropped_by_a_panic_inside_another_simulation_is_no_access_of_that_one() {
    let machine = machine([1, 1, 2, 1], "mesif", "");
    let (word, other) = (AtomicU64::new(0), AtomicU64::new(0));
    let inner = || {
        let mut simulation = Simulation::new(&machine, 7, 1_000_000, 0);
        for cpu in 0..2 {
            let held = Touching(&word);
            let body = move || {
                // The whole of it, not the reference inside.
                let held = held;
                // The first one waits while the second one panics.
                assert!(held.0.load(Ordering::SeqCst) > 0 || cpu == 0, "of the body");
                park();
            };
            simulation.spawn(cpu, true, body).unwrap();
        }
        simulation.run();
    };
    let mut simulation = Simulation::new(&machine, 7, 1_000_000, 0);
    let body = || {
        for _ in 0..10 {
            let before = now();
            assert!(catch_unwind(AssertUnwindSafe(inner)).is_err());
            assert_eq!(now(), before);
            word.store(0, Ordering::SeqCst);
            other.fetch_add(1, Ordering::SeqCst);
        }
    };
    for cpu in 0..2 {
        simulation.spawn(cpu, true, body).unwrap();
    }
    simulation.run();
    assert_eq!(other.peek(), 20);
}

#[test]
fn what_threads_ask_for_is_for_them_alone() {
    let outside: [fn(); 5] = [|| _ = now(), lock_step, park, || unpark(Number(0)), || store_object(1 << 32)];
    for ask in outside {
        let payload = catch_unwind(ask).expect_err("there is no thread");
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"only for the bodies of simulated threads"));
    }
}
