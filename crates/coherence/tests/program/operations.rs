//! Threads of loads, stores, locked instructions, fences and critical sections against a model: each access is one step, in one
//! order for all.

use super::traffic;
use std::cell::Cell;
use terrace_coherence::machine::Machine;
use terrace_coherence::programs::Line;
use terrace_coherence::simulation::{Number, Simulation, lock_step, now, park, random, unpark, work};
use terrace_coherence::watched::{AtomicU64, Ordering, fence};

/// Thread, kind, argument.
pub type Operation = (u8, u8, u8);

const WORDS: usize = 6;
const EVENTS: usize = 2000;

/// Words two to a pair of lines: some are neighbours, some are not.
type Words = [Line<[AtomicU64; 2]>; WORDS / 2];

#[derive(Default)]
struct Shared {
    words: Words,
    /// What the words hold, by the order in which accesses returned.
    model: [Cell<u64>; WORDS],
    lock: Line<AtomicU64>,
    inside: Cell<bool>,
    /// Incremented in critical sections, in two steps.
    guarded: Line<AtomicU64>,
    sections: Cell<u64>,
    ended: Cell<u32>,
    passed: Cell<u32>,
}

impl Shared {
    fn word(&self, number: usize) -> (&AtomicU64, &Cell<u64>) {
        (&self.words[number / 2].0[number % 2], &self.model[number])
    }

    fn step(&self, (_, kind, argument): Operation) {
        let (word, model) = self.word(usize::from(argument) % WORDS);
        match kind % 8 {
            0 => assert_eq!(word.load(Ordering::Acquire), model.get(), "a load sees the last store"),
            1 => {
                let value = random();
                word.store(value, Ordering::Release);
                model.set(value);
            }
            2 => {
                let before = word.fetch_add(u64::from(argument), Ordering::AcqRel);
                assert_eq!(before, model.get());
                model.set(before.wrapping_add(u64::from(argument)));
            }
            3 => self.increment(word, model),
            4 => fence(Ordering::SeqCst),
            5 => work(u64::from(argument) * 1000),
            6 => self.section(),
            _ => lock_step(),
        }
    }

    fn increment(&self, word: &AtomicU64, model: &Cell<u64>) {
        loop {
            let value = word.load(Ordering::Relaxed);
            let new = value.wrapping_add(1);
            match word.compare_exchange(value, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(before) => {
                    assert_eq!(before, model.get());
                    model.set(new);
                    return;
                }
                Err(found) => assert_eq!(found, model.get()),
            }
        }
    }

    fn section(&self) {
        while self.lock.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            // Longer and longer, by chance: the holder may wait for this very CPU.
            work(1 + random() % 100_000);
        }
        assert!(!self.inside.replace(true), "one at a time");
        let value = self.guarded.0.load(Ordering::Relaxed);
        work(500);
        self.guarded.0.store(value + 1, Ordering::Relaxed);
        assert!(self.inside.replace(false));
        self.lock.0.store(0, Ordering::Release);
        self.sections.set(self.sections.get() + 1);
    }
}

/// Runs them. Panics where a rule is broken. The last thread waits until each of the others has woken it.
pub fn run(machine: &Machine, operations: &[Operation], threads: u32, pinned: bool, seed: u64) {
    let shared = Shared::default();
    let mut simulation = Simulation::new(machine, seed, 0, EVENTS);
    for thread in 0..threads {
        let shared = &shared;
        let body = move || {
            let mut moment = now();
            for &operation in operations.iter().filter(|operation| u32::from(operation.0) % threads == thread)
            {
                shared.step(operation);
                assert!(now() >= moment, "time does not go back");
                moment = now();
            }
            shared.ended.set(shared.ended.get() + 1);
            if thread + 1 < threads {
                unpark(Number(threads - 1));
            } else {
                while shared.ended.get() < threads {
                    park();
                }
            }
            assert!(now() >= moment);
            shared.passed.set(shared.passed.get() + 1);
        };
        simulation.spawn(thread * 7, pinned, body).expect("there is memory for a stack");
    }
    let outcome = simulation.run();
    assert_eq!(shared.passed.get(), threads, "every thread ends");
    assert_eq!(shared.guarded.0.peek(), shared.sections.get());
    assert!((0..WORDS).all(|number| shared.word(number).0.peek() == shared.word(number).1.get()));
    assert!(!pinned || outcome.migrations == 0);
    traffic::check(&outcome.traffic, EVENTS);
}
