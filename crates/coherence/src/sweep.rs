//! Many simulations at once: one for each CPU of the machine at hand.
//!
//! A simulation runs on one thread and knows nothing of others, so what it gives does not depend on how many there are.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does `work` for every item on all CPUs, and gives what it gives in the items' order. `done` is told how many are done, each time
/// one is.
pub fn each<T: Sync, R: Send>(
    items: &[T],
    done: impl Fn(usize) + Sync,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(items.len()).max(1);
    each_by(workers, items, done, work)
}

fn each_by<T: Sync, R: Send>(
    workers: usize,
    items: &[T],
    done: impl Fn(usize) + Sync,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = Mutex::new(items.iter().enumerate());
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    // The lock is not held while the work is done.
                    let item = next.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((index, item)) = item else { break };
                    let result = work(item);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.push((index, result));
                    done(results.len());
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::programs::allocate::{Hierarchy, Tlab};
    use crate::scenario::{Program, Scenario};

    #[test]
    fn results_are_in_the_items_order_whoever_made_them() {
        let items: Vec<u64> = (0..50).collect();
        for workers in [1, 2, 7] {
            let told = Mutex::new(Vec::new());
            let results = each_by(workers, &items, |count| told.lock().unwrap().push(count), |item| item * 2);
            assert_eq!(results, items.iter().map(|item| item * 2).collect::<Vec<_>>());
            assert_eq!(told.into_inner().unwrap(), (1..=50).collect::<Vec<_>>());
        }
        assert!(each::<u64, u64>(&[], |_| (), |item| *item).is_empty());
    }

    #[test]
    fn simulations_beside_each_other_do_not_know_of_each_other() {
        let machine = Machine::named("opsian-haswell").unwrap();
        let scenario = |threads| Scenario {
            program: Program::Allocate,
            threads,
            tlab: Tlab::Bytes(1024),
            hierarchy: Hierarchy::None,
            eden: 64 << 20,
            object: 64,
            work: 40.0,
            pinned: false,
            seed: 7,
            length: 50_000_000,
        };
        let scenarios: Vec<Scenario> = (1..=6).map(scenario).collect();
        let run = |scenario: &Scenario| scenario.run(&machine, 0).unwrap().0;
        assert_eq!(each_by(1, &scenarios, |_| (), run), each_by(3, &scenarios, |_| (), run));
    }
}
